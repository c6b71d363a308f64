import type { AgentCallContext, ToolAnnotations } from '../../contracts/index.ts';
import { CoxswainError, canonicalJson, messageOf, textOfParts } from '../../contracts/index.ts';
import type { DispatchContext } from '../../dispatch/index.ts';
import { isErrorResult, Tool } from '../../dispatch/index.ts';
import { parametersOf } from './schema.ts';
import { isSteering } from './steering.ts';
import type { AdkModule, AdkTool, AdkToolContext } from './types.ts';

type Args = Record<string, unknown>;
type BeforeTool = (request: never) => unknown;

export interface AdkCall {
  tool: AdkTool;
  args: Args;
  context: AdkToolContext;
  /** What the tool asked a person last: the answer is handed back with its payload. */
  asked?: { hint?: string; payload?: unknown };
  /** An agent called as a tool may run, with these arguments. */
  delegated?: Args;
}

export interface CallOptions {
  adk: AdkModule;
  /** Plugins of the app, in order. */
  plugins: readonly object[];
  annotations(tool: AdkTool): ToolAnnotations | undefined;
  /** Runs an agent that is called as a tool; its own calls pass the gate as well. */
  runAgentTool(tool: AdkTool, args: Args, context: AdkToolContext): Promise<unknown>;
}

/**
 * Runs one call through the gate. What the tool asks a person for, a confirmation or a credential, is asked by the
 * host while the call waits; the package never sees a pause.
 */
export async function runThroughGate(ctx: DispatchContext, call: AdkCall, options: CallOptions): Promise<Args> {
  const { tool, args, context } = call;
  const { agent } = context.invocationContext;
  const annotations = {
    ...(options.adk.isAgentTool(tool) || isSteering(options.adk, tool, agent) ? { readOnly: true } : {}),
    ...(tool.isLongRunning ? { longRunning: true } : {}),
    ...options.annotations(tool),
  };
  // A tool of the host of that name is the host's to run.
  const ofHost = ctx.tools.get(tool.name);
  const gated =
    ofHost ??
    new Tool({
      name: tool.name,
      description: tool.description,
      inputSchema: parametersOf(tool),
      ...(Object.keys(annotations).length > 0 ? { annotations } : {}),
      ...(alwaysAsks(tool) ? { needsApproval: true } : {}),
      handler: (given, host) => runTool(call, given, host, options),
    });
  try {
    const value = await gated.executor(ctx)(args);
    if (call.delegated && !isErrorResult(value)) {
      return asRecord(await delegate(ctx, call, call.delegated, options), tool, context);
    }
    return asRecord(value, tool, context);
  } catch (error) {
    if (!ctx.aborted) throw error;
    return { error: 'aborted' };
  }
}

/** The package leaves a call that throws without an answer: what an agent failed with is one. */
async function delegate(
  ctx: DispatchContext,
  { tool, context }: AdkCall,
  args: Args,
  { runAgentTool }: CallOptions,
): Promise<unknown> {
  try {
    return await runAgentTool(tool, args, context);
  } catch (error) {
    if (ctx.aborted) throw error;
    return { error: messageOf(error) };
  }
}

async function runTool(call: AdkCall, args: Args, host: AgentCallContext, options: CallOptions): Promise<unknown> {
  const { adk } = options;
  const { tool, context } = call;
  const { functionCallId = '', invocationContext } = context;
  // A tool that always asks is the gate's to ask about: it runs after a yes only, which is the policy's question's too.
  const said = host.confirmation ?? (alwaysAsks(tool) ? { confirmed: true } : undefined);
  const confirmation = said ? { toolConfirmation: new adk.ToolConfirmation(answerTo(call.asked, said) as never) } : {};
  // A context of its own for each run: what a run asks for stays out of the package's events.
  const own = new adk.Context({ invocationContext, functionCallId, ...confirmation } as never);
  await keepCredential(own, host, tool);
  const given = structuredClone(args);
  const before = canonicalJson(given);
  let result = await beforeTool(call, given, own, options);
  if (canonicalJson(given) !== before) throw edited(tool.name);
  if (result === undefined || result === null) {
    if (adk.isAgentTool(tool)) {
      // Its own calls may wait for people, and nothing waits inside a call that runs: it follows this one.
      call.delegated = given;
      result = { started: true };
    } else {
      result = await orRecovered(
        () => tool.runAsync({ args: given, toolContext: own } as never),
        call,
        given,
        own,
        options,
      );
    }
  }
  const { requestedToolConfirmations, requestedAuthConfigs } = own.actions;
  const asked = requestedToolConfirmations[functionCallId] as { hint?: string; payload?: unknown } | undefined;
  if (asked) {
    call.asked = asked;
    host.requestConfirmation({ hint: asked.hint || `Run ${tool.name}?`, payload: asked.payload });
    return undefined;
  }
  const auth = requestedAuthConfigs[functionCallId];
  if (auth) {
    const key = keyOf(auth);
    credentialKeys.set(tool, (credentialKeys.get(tool) ?? new Set()).add(key));
    host.requestCredential({ key, ...schemeOf(auth) });
    return undefined;
  }
  mergeActions(context, own);
  return result;
}

function alwaysAsks(tool: AdkTool): boolean {
  return (tool as { requireConfirmation?: unknown }).requireConfirmation === true;
}

/** Whoever may look at a call first: plugins of the app, then the agent's own callbacks. */
async function beforeTool(call: AdkCall, args: Args, own: AdkToolContext, { plugins }: CallOptions): Promise<unknown> {
  const { tool, context } = call;
  for (const plugin of plugins as { beforeToolCallback?: BeforeTool }[]) {
    const result = await plugin.beforeToolCallback?.({ tool, toolArgs: args, toolContext: own } as never);
    if (result !== undefined && result !== null) return result;
  }
  const { canonicalBeforeToolCallbacks = [] } = (context.invocationContext.agent ?? {}) as {
    canonicalBeforeToolCallbacks?: BeforeTool[];
  };
  for (const callback of canonicalBeforeToolCallbacks) {
    const result = await callback({ tool, args, context: own } as never);
    if (result) return result;
  }
  return undefined;
}

async function orRecovered(
  run: () => Promise<unknown>,
  { tool }: AdkCall,
  args: Args,
  own: AdkToolContext,
  { plugins }: CallOptions,
): Promise<unknown> {
  try {
    return await run();
  } catch (error) {
    for (const plugin of plugins as { onToolErrorCallback?: BeforeTool }[]) {
      const request = { tool, toolArgs: args, toolContext: own, error };
      const result = await plugin.onToolErrorCallback?.(request as never);
      if (result !== undefined && result !== null) return result;
    }
    throw error;
  }
}

/** The credential that was given for this call, where the package's own helper looks for it. */
async function keepCredential(own: AdkToolContext, host: AgentCallContext, tool: AdkTool): Promise<void> {
  const configs = credentialKeys.get(tool) ?? new Set<string>();
  for (const key of configs) {
    const credential = await host.getAuthResponse(key);
    if (credential !== undefined) own.state.set(`temp:${key}`, credential as never);
  }
}

/** Keys that a tool has asked credentials for. */
const credentialKeys = new WeakMap<AdkTool, Set<string>>();

function keyOf(auth: object): string {
  const { credentialKey } = auth as { credentialKey?: unknown };
  return typeof credentialKey === 'string' ? credentialKey : 'credential';
}

/** What a person may see of an auth configuration: never what is in its raw credential. */
function schemeOf(auth: object): { scheme?: string } {
  const { authScheme } = auth as { authScheme?: { type?: unknown } };
  return typeof authScheme?.type === 'string' ? { scheme: authScheme.type } : {};
}

function answerTo(asked: AdkCall['asked'], given: { confirmed: boolean; payload?: unknown }): object {
  return { hint: asked?.hint ?? '', confirmed: given.confirmed, payload: given.payload ?? asked?.payload };
}

export function mergeActions({ actions: into }: AdkToolContext, { actions: from }: AdkToolContext): void {
  Object.assign(into.stateDelta, from.stateDelta);
  Object.assign(into.artifactDelta, from.artifactDelta);
  if (from.transferToAgent !== undefined) into.transferToAgent = from.transferToAgent;
  if (from.escalate) into.escalate = true;
  if (from.skipSummarization) into.skipSummarization = true;
}

/** A result as the package takes it; a refusal is an error that the model reads. */
function asRecord(value: unknown, tool: AdkTool, context: AdkToolContext): Args {
  if (isErrorResult(value)) {
    // A transfer or an end that was refused does not happen.
    delete context.actions.transferToAgent;
    return { error: textOfParts(value.content) || `${tool.name} failed` };
  }
  if (Array.isArray(value)) return { results: value };
  if (typeof value === 'object' && value !== null && !(value instanceof Uint8Array)) return value as Args;
  return { result: value instanceof Uint8Array ? Buffer.from(value).toString('base64') : (value ?? null) };
}

function edited(tool: string): CoxswainError {
  return new CoxswainError(
    'FAILED_PRECONDITION',
    'E_TOOL',
    `a callback changed the arguments of ${tool} after they were decided on; nothing ran`,
  );
}
