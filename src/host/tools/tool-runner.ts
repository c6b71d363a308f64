import type {
  ArtifactAccess,
  ConfirmationRequest,
  HookContext,
  LifecycleInterceptor,
  Principal,
  RunQuestion,
  RunReply,
  StateAccess,
  ToolCallContext,
  ToolResult,
  ToolUpdate,
} from '../../contracts/index.ts';
import { CoxswainError, messageOf } from '../../contracts/index.ts';
import type { Decision, HooksBehind } from '../../gate/index.ts';
import {
  checkConfirmation,
  errorResult,
  fireHook,
  isForeign,
  isTooLate,
  misfit,
  refusalResult,
  resultAfter,
  runCall,
} from '../../gate/index.ts';
import { unreachable } from '../../session/index.ts';
import { Suspended } from './subagent-tool.ts';
import type { HostTool } from './tool-registry.ts';

export interface HostCall {
  callId: string;
  sessionId: string;
  userId: string;
  /** On whose behalf; frozen. */
  principal: Principal;
  agentPath: readonly string[];
  hostTool: HostTool;
  decision: Decision;
  confirmation?: { confirmed: boolean; payload?: unknown };
}

export interface RunToolOptions {
  deps: unknown;
  hooks: LifecycleInterceptor | undefined;
  hookTimeoutMs: number | undefined;
  timeoutMs: number;
  /** A result as large as a model is given it. */
  bounded(callId: string, result: ToolResult): ToolResult | Promise<ToolResult>;
  progress(update: ToolUpdate): void;
  elicit(question: RunQuestion, signal: AbortSignal): Promise<RunReply>;
  warn(message: string, error?: unknown): void;
}

export type ToolOutcome =
  | { kind: 'result'; result: ToolResult; interim: boolean }
  /** The handler ended with a question. */
  | { kind: 'confirm'; request: ConfirmationRequest }
  /** A sub-agent waits for somebody: its call stays open. */
  | { kind: 'suspended' };

/** Runs one host tool to a result: timeout, abort, errors and odd values become results, never throws. */
export async function runHostTool(call: HostCall, options: RunToolOptions, signal: AbortSignal): Promise<ToolOutcome> {
  const { hostTool, decision } = call;
  const { descriptor, tool } = hostTool;
  // It waited for its turn and is not wanted any more.
  if (signal.aborted) return { kind: 'result', result: refusalResult('cancelled'), interim: false };
  const longRunning = descriptor.annotations?.longRunning === true;
  const controller = new AbortController();
  const context = new HostToolContext(call, options, controller.signal);
  const hooks = hooksBehind(call, options, signal);
  const end = await runCall({
    decision,
    tool,
    context,
    hooks,
    firstOnly: longRunning,
    timeoutMs: tool.timeoutMs ?? options.timeoutMs,
    signals: [signal],
    end: (reason) => controller.abort(reason),
    hasAsked: () => context.asked !== undefined,
    suspends: (error) => error instanceof Suspended,
    ...(isForeign(hostTool.source) ? {} : { unfit: (fault) => options.warn(misfit(descriptor.name, fault)) }),
  });
  let result: ToolResult;
  switch (end.kind) {
    case 'asked':
      return { kind: 'confirm', request: context.asked as ConfirmationRequest };
    case 'suspended':
      return end;
    case 'begun':
      return { kind: 'result', result: { content: [] }, interim: true };
    case 'aborted':
      result = await resultAfter(errorResult('interrupted', `interrupted: ${messageOf(signal.reason)}`), hooks);
      break;
    case 'result':
      result = end.result;
      break;
    default:
      return unreachable(end, 'the end of a call');
  }
  const bounding = options.bounded(call.callId, result);
  const bounded = bounding instanceof Promise ? await bounding : bounding;
  return { kind: 'result', result: bounded, interim: longRunning && !bounded.isError };
}

/** The host's hooks behind a handler. One that was too slow is no error that they are asked about. */
function hooksBehind(call: HostCall, options: RunToolOptions, signal: AbortSignal): HooksBehind {
  const { descriptor: tool } = call.hostTool;
  const { callId, sessionId, userId, principal, agentPath } = call;
  const context: HookContext = { sessionId, userId, principal, callId, agentPath, signal };
  const { args } = call.decision;
  return {
    instead: async (error) =>
      supports(options.hooks, 'on_tool_error') && !isTooLate(error)
        ? replacementOf('on_tool_error', { tool, args, error, context }, options, signal)
        : undefined,
    after: (result) =>
      supports(options.hooks, 'after_tool')
        ? replacementOf('after_tool', { tool, args, context, result }, options, signal)
        : undefined,
    failed: (point, error) => options.warn(`an ${point} hook failed on ${tool.name}`, error),
  };
}

/** @throws CoxswainError `INTERNAL / E_HOOK_FAILED` for a word that is none; it is too late for a no */
async function replacementOf(
  point: string,
  payload: object,
  { hooks, hookTimeoutMs }: RunToolOptions,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  const said = hooks && (await fireHook(hooks, point, payload, { signal, timeoutMs: hookTimeoutMs }));
  if (said?.action !== 'block') return said?.modifications?.replacement;
  throw new CoxswainError('INTERNAL', 'E_HOOK_FAILED', `a ${point} hook said block: the tool has run`);
}

export function supports(hooks: LifecycleInterceptor | undefined, point: string): boolean {
  return hooks?.supportedHookPoints().includes(point) ?? false;
}

/**
 * A host tool lives outside the agent's session: what needs the session is not in its type, and refused with a reason to
 * whoever asks all the same.
 */
class HostToolContext implements ToolCallContext<never> {
  readonly callId: string;
  readonly sessionId: string;
  readonly userId: string;
  readonly principal: Principal;
  readonly agentPath: readonly string[];
  readonly signal: AbortSignal;
  readonly confirmation?: { confirmed: boolean; payload?: unknown };
  asked: ConfirmationRequest | undefined;
  readonly #options: RunToolOptions;
  readonly #name: string;

  constructor(call: HostCall, options: RunToolOptions, signal: AbortSignal) {
    this.callId = call.callId;
    this.sessionId = call.sessionId;
    this.userId = call.userId;
    this.principal = call.principal;
    this.agentPath = call.agentPath;
    this.signal = signal;
    this.#options = options;
    this.#name = call.hostTool.descriptor.name;
    if (call.confirmation) this.confirmation = call.confirmation;
  }

  get deps(): never {
    return this.#options.deps as never;
  }

  get state(): StateAccess {
    throw this.#unsupported('state', 'return what the agent should know, or give the tool to the agent');
  }

  get artifacts(): ArtifactAccess {
    throw this.#unsupported('artifacts', 'return media, or keep the artifact on the host');
  }

  progress(update: ToolUpdate): void {
    if (!this.signal.aborted) this.#options.progress(update);
  }

  elicit(question: RunQuestion, signal?: AbortSignal): Promise<RunReply> {
    return this.#options.elicit(question, signal ? AbortSignal.any([signal, this.signal]) : this.signal);
  }

  requestConfirmation(request: ConfirmationRequest): void {
    checkConfirmation(request);
    this.asked = request;
  }

  requestCredential(): void {
    throw this.#unsupported('requestCredential', 'the host has its own credentials: hand them over in deps');
  }

  async getAuthResponse(): Promise<undefined> {
    return undefined;
  }

  escalate(): void {
    throw this.#unsupported('escalate', 'only tools of the agent can end its loop');
  }

  skipSummarization(): void {
    throw this.#unsupported('skipSummarization', 'only tools of the agent can');
  }

  transferTo(): void {
    throw this.#unsupported('transferTo', 'only tools of the agent can hand over');
  }

  async searchMemory(): Promise<never> {
    throw this.#unsupported('searchMemory', 'give the tool to the agent, and its memory service');
  }

  /** The program's mistake: its log has it, not the model alone. */
  #unsupported(what: string, instead: string): CoxswainError {
    const message = `a host tool has no ${what}: ${instead}`;
    this.#options.warn(`tool ${this.#name}: ${message}`);
    return new CoxswainError('UNIMPLEMENTED', 'E_UNSUPPORTED', message);
  }
}
