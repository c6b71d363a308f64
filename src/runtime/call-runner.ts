import type { AnyTool, AuthConfig, JsonSchema, ToolDescriptor, ToolResult, ToolReturn } from '../contracts/index.ts';
import { CoxswainError, isCoxswainError, messageOf } from '../contracts/index.ts';
import type { Decision } from '../gate/index.ts';
import { errorResult, normaliseReturn, runHandler, toResponse } from '../gate/index.ts';
import { orAbort } from './abort.ts';
import { responseEvent } from './answers.ts';
import { ToolContext } from './callback-context.ts';
import type { AgentContext } from './context.ts';
import type { Ask, Event, EventActions } from './event.ts';
import type { CallState } from './fold.ts';
import { inheritedModel } from './model-choice.ts';
import { outputValue } from './output.ts';
import type { HookChain } from './plugin.ts';
import { storedDelta } from './state.ts';
import type { TelemetrySpan } from './telemetry.ts';
import { Operation, runAttributes } from './telemetry.ts';
import type { ResolvedTool } from './tools.ts';
import { mayRepeat } from './tools.ts';

/** A call that may run now. */
export interface Ready {
  call: CallState;
  resolved: ResolvedTool;
  decision: Decision;
  confirmation?: { confirmed: boolean; payload?: unknown };
}

export async function runAll(context: AgentContext, ready: readonly Ready[], hooks: HookChain): Promise<void> {
  const { telemetry } = context.invocation.engine;
  const merged = Operation.start('tool', 'execute_tool (merged)', telemetry, context.place.span, () => ({
    'gen_ai.operation.name': 'execute_tool',
    'coxswain.calls': ready.length,
    ...runAttributes(context.invocation),
  }));
  try {
    await runWaves(context, ready, hooks, merged?.span ?? context.place.span);
  } finally {
    merged?.end(context.signal.aborted ? context.signal.reason : undefined);
  }
}

async function runWaves(
  context: AgentContext,
  ready: readonly Ready[],
  hooks: HookChain,
  span: TelemetrySpan | undefined,
): Promise<void> {
  const concurrency = context.invocation.engine.toolConcurrency;
  let wave: Ready[] = [];
  const flush = async () => {
    const now = wave;
    wave = [];
    if (now.length === 1 && now[0]) await runOne(context, now[0], hooks, span);
    else if (now.length > 0) await pool(now, concurrency, (item) => runOne(context, item, hooks, span));
  };
  for (const item of ready) {
    if (item.resolved.descriptor.annotations?.exclusive) {
      await flush();
      wave = [item];
      await flush();
    } else wave.push(item);
  }
  await flush();
}

async function pool<T>(items: readonly T[], size: number, work: (item: T) => Promise<void>): Promise<void> {
  if (items.length <= size) return allEnded(items.map(work));
  let next = 0;
  const worker = async () => {
    for (let item = items[next++]; item !== undefined; item = items[next++]) await work(item);
  };
  await allEnded(Array.from({ length: size }, worker));
}

/** Waits for all, then fails if one did: nothing goes on behind a turn that has ended. */
async function allEnded(work: readonly Promise<void>[]): Promise<void> {
  for (const ended of await Promise.allSettled(work)) if (ended.status === 'rejected') throw ended.reason;
}

/** Runs one call and stores what it came to. Nothing is stored once the run was aborted. */
async function runOne(
  context: AgentContext,
  ready: Ready,
  hooks: HookChain,
  parent: TelemetrySpan | undefined,
): Promise<void> {
  const { invocation } = context;
  const { call, resolved } = ready;
  // Settled since it was announced: somebody has ended this one call.
  if (context.signal.aborted || call.settled) return;
  const toolContext = new ToolContext(context, call, ready.confirmation);
  const operation = Operation.start('tool', `execute_tool ${call.name}`, invocation.engine.telemetry, parent, () => ({
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': call.name,
    'gen_ai.tool.call.id': call.id,
    ...runAttributes(invocation),
  }));
  const cancelled = new AbortController();
  let fault: unknown;
  invocation.running.set(call.id, {
    cancel(reason) {
      toolContext.cancel(reason);
      cancelled.abort(reason);
    },
  });
  try {
    const outcome = resolved.agentTree
      ? await runAgentTool(context, toolContext, ready, hooks, operation?.span ?? parent)
      : await runTool(context, toolContext, ready, hooks, cancelled.signal);
    if (outcome?.result.isError) fault = outcome.result.errorType ?? 'failed';
    if (outcome === undefined || context.signal.aborted) return;
    await storeOutcome(context, call, outcomeEvents(context, ready, toolContext, outcome));
  } catch (error) {
    fault = error;
    if (!context.signal.aborted) throw error;
  } finally {
    operation?.end(context.signal.aborted ? context.signal.reason : fault);
    toolContext.dispose();
    invocation.running.delete(call.id);
  }
}

/** Another process may have answered the call meanwhile: then its answer stands, and this one is dropped. */
async function storeOutcome(context: AgentContext, call: CallState, events: Event[]): Promise<void> {
  const { invocation } = context;
  try {
    await invocation.emit(...events);
  } catch (error) {
    if (!isCoxswainError(error) || error.code !== 'E_EVENT_EXISTS') throw error;
    await invocation.session.catchUp();
    if (call.settled)
      invocation.engine.warn(`call ${call.id} was answered elsewhere while it ran; its result is dropped`);
    // The answer of a sibling was the one that was there already: appends of one moment share a transaction.
    else await invocation.emit(...events);
  }
}

interface Outcome {
  result: ToolResult;
  actions?: Partial<EventActions>;
}

async function runTool(
  context: AgentContext,
  toolContext: ToolContext,
  ready: Ready,
  hooks: HookChain,
  cancelled: AbortSignal,
): Promise<Outcome | undefined> {
  const { resolved, decision } = ready;
  const { descriptor, tool } = resolved;
  if (!tool) throw new CoxswainError('INTERNAL', 'E_INTERNAL', `${descriptor.name} has no handler`);
  const longRunning = descriptor.annotations?.longRunning === true;
  let result: ToolResult;
  try {
    const work = runHandler(decision, tool, toolContext, { firstOnly: longRunning });
    const value = await orAbort(
      cancelled,
      orAbort(context.signal, withTimeout(work, timeoutOf(context, tool), toolContext)),
    );
    if (longRunning && !asksOutside(toolContext)) {
      return { result: value === undefined || value === null ? { content: [] } : normaliseReturn(value) };
    }
    result = normaliseReturn(value);
  } catch (error) {
    if (context.signal.aborted) return undefined;
    if (cancelled.aborted) return { result: errorResult('interrupted', `interrupted: ${messageOf(cancelled.reason)}`) };
    result = await recover(context, toolContext, ready, hooks, error);
  }
  if (asksOutside(toolContext)) return { result };
  return { result: await afterTool(context, toolContext, ready, hooks, result) };
}

async function recover(
  context: AgentContext,
  toolContext: ToolContext,
  ready: Ready,
  hooks: HookChain,
  error: unknown,
): Promise<ToolResult> {
  const { resolved, decision } = ready;
  const value = await askOnToolError(context, toolContext, resolved.descriptor, decision.args, error, hooks);
  if (value !== undefined) return normaliseReturn(value);
  const timedOut = error instanceof CoxswainError && error.code === 'E_TOOL' && error.status === 'DEADLINE_EXCEEDED';
  return errorResult(timedOut ? 'timeout' : 'failed', messageOf(error));
}

/** What an on_tool_error hook has instead of the error; one that fails itself has nothing. */
export async function askOnToolError(
  context: AgentContext,
  toolContext: ToolContext,
  descriptor: ToolDescriptor,
  args: Record<string, unknown>,
  error: unknown,
  hooks: HookChain,
): Promise<ToolReturn | undefined> {
  try {
    return await hooks.first('onToolError', toolContext, descriptor, args, error);
  } catch (thrown) {
    context.invocation.engine.warn(`an on_tool_error hook failed on ${descriptor.name}`, thrown);
    return undefined;
  }
}

async function afterTool(
  context: AgentContext,
  toolContext: ToolContext,
  ready: Ready,
  hooks: HookChain,
  result: ToolResult,
): Promise<ToolResult> {
  if (!hooks.has('afterTool')) return result;
  try {
    const value = await hooks.first('afterTool', toolContext, ready.resolved.descriptor, ready.decision.args, result);
    return value === undefined ? result : normaliseReturn(value);
  } catch (error) {
    context.invocation.engine.warn(`an after_tool hook failed on ${ready.call.name}`, error);
    return result;
  }
}

/** An agent run as a tool: suspended, its call stays open; else its last words are the result. */
async function runAgentTool(
  context: AgentContext,
  toolContext: ToolContext,
  ready: Ready,
  hooks: HookChain,
  span: TelemetrySpan | undefined,
): Promise<Outcome | undefined> {
  const { call, resolved, decision } = ready;
  const { agentTree } = resolved;
  if (!agentTree) return undefined;
  const { invocation } = context;
  const path = `${context.path}/${call.id}`;
  if (!invocation.fold.activation(path).input) {
    await invocation.emit(
      context.event({
        path,
        author: 'user',
        iso: path,
        content: { role: 'user', parts: [{ type: 'text', text: agentInput(decision.args) }] },
        actions: { decisions: { [call.id]: decision.record } },
      }),
    );
  }
  const outcome = await context.run(agentTree.root, {
    key: call.id,
    isolated: agentTree,
    model: inheritedModel(context),
    span,
  });
  if (outcome.kind === 'suspended') return undefined;
  if (outcome.kind === 'failed') {
    const { fatal, message } = outcome.failure;
    const text = fatal ? `agent ${agentTree.root.name} failed: ${message}` : message;
    const result = await recover(context, toolContext, ready, hooks, new CoxswainError('INTERNAL', 'E_TOOL', text));
    return { result: await afterTool(context, toolContext, ready, hooks, result) };
  }
  const stateDelta = storedDelta(invocation.fold.isolated.get(path) ?? {});
  const text = invocation.fold.isolatedText.get(path) ?? '';
  const { outputSchema } = agentTree.root as { outputSchema?: JsonSchema };
  const value = outputValue(outputSchema, text);
  const result = normaliseReturn(value === text ? { result: text } : value);
  return {
    result: await afterTool(context, toolContext, ready, hooks, result),
    actions: Object.keys(stateDelta).length > 0 ? { stateDelta } : {},
  };
}

/** `request` if that is all there is, else the arguments as JSON. */
function agentInput(args: Record<string, unknown>): string {
  const names = Object.keys(args);
  return names.length === 1 && typeof args.request === 'string' ? args.request : JSON.stringify(args);
}

function outcomeEvents(context: AgentContext, ready: Ready, toolContext: ToolContext, outcome: Outcome): Event[] {
  const { call, resolved, decision } = ready;
  const { effects, state, artifactDelta } = toolContext;
  const actions: Partial<EventActions> = { ...outcome.actions };
  if (Object.keys(state.delta).length > 0) actions.stateDelta = { ...actions.stateDelta, ...state.delta };
  if (Object.keys(artifactDelta).length > 0) actions.artifactDelta = artifactDelta;
  if (effects.credential) {
    actions.asks = [credentialAsk(call, effects.credential)];
    actions.requestedAuthConfigs = { [call.id]: { ...effects.credential } };
    return [context.event({ actions })];
  }
  if (effects.confirmation) {
    const { hint, payload, expiresIn } = effects.confirmation;
    actions.asks = [
      {
        requestId: `${call.id}#${call.asks.length}`,
        callId: call.id,
        kind: 'tool_confirmation',
        message: hint ?? `Run ${call.name}?`,
        context: payload === undefined ? {} : { payload },
        ...(decision.record.args ? { args: decision.record.args } : {}),
        ...(expiresIn === undefined ? {} : { expiresAt: Date.now() + expiresIn * 1000 }),
      },
    ];
    actions.requestedToolConfirmations = { [call.id]: { ...effects.confirmation } };
    return [context.event({ actions })];
  }
  if (effects.escalate) actions.escalate = true;
  if (effects.skipSummarization) actions.skipSummarization = true;
  if (effects.transferToAgent !== undefined) actions.transferToAgent = effects.transferToAgent;
  if (mayRepeat(resolved)) actions.decisions = { ...actions.decisions, [call.id]: decision.record };
  if (resolved.descriptor.annotations?.longRunning) {
    const interim = outcome.result.content.length > 0 ? toResponse(outcome.result).response : {};
    return [context.event({ actions: { ...actions, interim: { [call.id]: interim } } })];
  }
  const stored = context.event({ actions });
  return [{ ...responseEvent(call, outcome.result, context.invocation.origin()), actions: stored.actions }];
}

function timeoutOf(context: AgentContext, tool: AnyTool): number | undefined {
  const { toolTimeoutMs } = context.invocation.engine;
  return tool.timeoutMs ?? (toolTimeoutMs ? toolTimeoutMs : undefined);
}

async function withTimeout<T>(work: Promise<T>, timeoutMs: number | undefined, toolContext: ToolContext): Promise<T> {
  if (timeoutMs === undefined) return work;
  const controller = new AbortController();
  const error = new CoxswainError(
    'DEADLINE_EXCEEDED',
    'E_TOOL',
    `no result within ${timeoutMs} ms; its effects are unknown`,
  );
  const timer = setTimeout(() => {
    toolContext.cancel(error);
    controller.abort(error);
  }, timeoutMs);
  try {
    return await orAbort(controller.signal, work);
  } finally {
    clearTimeout(timer);
  }
}

function asksOutside({ effects }: ToolContext): boolean {
  return effects.confirmation !== undefined || effects.credential !== undefined;
}

function credentialAsk(call: CallState, config: AuthConfig): Ask {
  return {
    requestId: `${call.id}#${call.asks.length}`,
    callId: call.id,
    kind: 'auth_required',
    message: config.hint ?? `${call.name} needs a credential`,
    context: { ...config },
  };
}
