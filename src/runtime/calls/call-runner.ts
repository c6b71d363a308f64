import { isByPolicy, runInTurn } from '../../gate/index.ts';
import type { AgentContext, TelemetrySpan } from '../agent/index.ts';
import { boundedAnswer, Operation, runAttributes } from '../agent/index.ts';
import type { HookChain } from '../hooks/index.ts';
import { ToolContext } from '../hooks/index.ts';
import type { CallState, StoredEvent } from '../log/index.ts';
import { outcomeEvents } from './call-outcome.ts';
import type { CallStarts } from './call-starts.ts';
import { closeWithin, storeEnd } from './close-slot.ts';
import type { ReadyCall } from './ready-call.ts';
import { runAgentTool } from './run-agent-tool.ts';
import { runTool } from './run-tool.ts';

/** Runs calls side by side, as many at once as the engine allows, an exclusive one alone. */
export async function runAll(
  context: AgentContext,
  ready: readonly ReadyCall[],
  hooks: HookChain,
  starts: CallStarts,
): Promise<void> {
  const { telemetry } = context.invocation.engine;
  const merged = Operation.start('tool', 'execute_tool (merged)', telemetry, context.place.span, () => ({
    'coxswain.calls': ready.length,
    ...runAttributes(context.invocation),
  }));
  let fault: unknown;
  try {
    const parent = merged?.span ?? context.place.span;
    const isExclusive = ({ resolved }: ReadyCall) => Boolean(resolved.descriptor.annotations?.exclusive);
    const turns = { size: context.invocation.engine.toolConcurrency, isExclusive };
    await runInTurn(ready, turns, (item) => runOne(context, item, hooks, starts, parent));
  } catch (error) {
    fault = error;
    throw error;
  } finally {
    merged?.end(context.signal.aborted ? context.signal.reason : fault);
  }
}

/** Runs one call and stores what it came to. Once the run was aborted, that is stored of a handler alone that had ended. */
async function runOne(
  context: AgentContext,
  ready: ReadyCall,
  hooks: HookChain,
  starts: CallStarts,
  parent: TelemetrySpan | undefined,
): Promise<void> {
  const { invocation } = context;
  const { call, resolved } = ready;
  // Settled since it was announced: somebody has ended this one call.
  if (context.signal.aborted || call.settled) return;
  const toolContext = new ToolContext(context, call, ready.confirmation, {
    toolSource: resolved.source,
    wasAsked: !isByPolicy(ready.decision),
  });
  const operation = Operation.start('tool', `execute_tool ${call.name}`, invocation.engine.telemetry, parent, () => ({
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': call.name,
    'gen_ai.tool.type': 'function',
    'gen_ai.tool.call.id': call.id,
    'gen_ai.agent.name': context.agent.name,
    ...runAttributes(invocation),
  }));
  const cancelled = new AbortController();
  let fault: unknown;
  let over: PromiseWithResolvers<void> | undefined;
  invocation.running.set(call.id, {
    cancel(reason) {
      toolContext.cancel(reason);
      cancelled.abort(reason);
      over ??= Promise.withResolvers<void>();
      return over.promise;
    },
  });
  try {
    // From here on an abort reaches the handler; one that came before may be on its way into the log.
    const stored = invocation.stored();
    if (stored) await stored;
    if (context.signal.aborted || call.settled) return;
    const start = starts.begin(ready);
    if (start) {
      await start;
      if (context.signal.aborted || call.settled) return;
    }
    const outcome = resolved.agentTree
      ? await runAgentTool(context, toolContext, ready, hooks, operation?.span ?? parent, cancelled.signal)
      : await runTool(context, toolContext, ready, hooks, cancelled.signal);
    if (outcome?.result.isError) fault = toolContext.withoutSecrets(outcome.result.errorType ?? 'failed');
    // Of a handler that has ended the result is stored, whoever still waits for it.
    if (outcome === undefined || (context.signal.aborted && !outcome.hasEnded)) return;
    const { abandons } = outcome;
    const told = toolContext.hasSecrets ? toolContext.withoutSecrets(outcome.result) : outcome.result;
    const bounding = boundedAnswer(invocation, call.id, told, context.signal);
    const bounded = bounding instanceof Promise ? await bounding : bounding;
    outcome.result = bounded.result;
    Object.assign(toolContext.artifactDelta, bounded.artifactDelta);
    if (context.signal.aborted && !outcome.hasEnded) return;
    await storeOutcome(context, call, () => [
      ...(abandons === undefined ? [] : closeWithin(invocation.fold, call, abandons, invocation.origin())),
      ...outcomeEvents(context, ready, toolContext, outcome),
    ]);
  } catch (error) {
    fault = error;
    if (!context.signal.aborted) throw error;
  } finally {
    operation?.end(context.signal.aborted ? context.signal.reason : fault);
    toolContext.dispose();
    invocation.running.delete(call.id);
    over?.resolve();
  }
}

/** Another process may have answered the call meanwhile: then its answer stands, and this one is dropped. */
async function storeOutcome({ invocation }: AgentContext, call: CallState, make: () => StoredEvent[]): Promise<void> {
  let wasDropped = false;
  await storeEnd(invocation, () => {
    wasDropped = call.settled !== undefined;
    return wasDropped ? [] : make();
  });
  if (wasDropped) invocation.engine.warn(`call ${call.id} was answered elsewhere while it ran; its result is dropped`);
}
