import type { JsonSchema } from '../../contracts/index.ts';
import { CoxswainError, messageOf } from '../../contracts/index.ts';
import { errorResult, normaliseReturn, resultAfter, resultInstead } from '../../gate/index.ts';
import type { AgentContext, TelemetrySpan } from '../agent/index.ts';
import { childController, inheritedModel, outputValue } from '../agent/index.ts';
import type { HookChain, ToolContext } from '../hooks/index.ts';
import type { Outcome } from '../log/index.ts';
import { slotOfCall, storedDelta } from '../log/index.ts';
import { isTruncated } from '../model/index.ts';
import type { CallOutcome } from './call-outcome.ts';
import { releaseWithin } from './close-slot.ts';
import type { ReadyCall } from './ready-call.ts';
import { newDecisions } from './ready-call.ts';
import { hooksBehind } from './tool-hooks.ts';

/** An agent run as a tool: suspended, its call stays open; else its last words are the result. */
export async function runAgentTool(
  context: AgentContext,
  toolContext: ToolContext,
  ready: ReadyCall,
  hooks: HookChain,
  span: TelemetrySpan | undefined,
  cancelled: AbortSignal,
): Promise<CallOutcome | undefined> {
  const { call, resolved, decision } = ready;
  const { agentTree } = resolved;
  if (!agentTree) return undefined;
  // The agent asks for itself; hooks behind it would have their question asked without end.
  toolContext.ended();
  const behind = hooksBehind(context, toolContext, { descriptor: resolved.descriptor, args: decision.args }, hooks);
  const { invocation } = context;
  const path = slotOfCall(call);
  if (!invocation.fold.activation(path).input) {
    // The decision is the caller's, what follows is told to the agent alone.
    const actions = newDecisions([ready]);
    await invocation.emit(
      ...(actions.decisions ? [context.event({ actions })] : []),
      context.event({
        path,
        author: 'user',
        iso: path,
        content: { role: 'user', parts: [{ type: 'text', text: agentInput(decision.args) }] },
      }),
    );
  }
  const outcome = await runUntil(cancelled, context.signal, (signal) =>
    context.run(agentTree.root, { key: call.id, isolated: agentTree, model: inheritedModel(context), span, signal }),
  );
  if (outcome.kind !== 'done' && cancelled.aborted && !context.signal.aborted) {
    const why = messageOf(cancelled.reason);
    releaseWithin(invocation.session, path, cancelled.reason);
    return { result: errorResult('interrupted', `interrupted: ${why}`), abandons: why };
  }
  if (outcome.kind === 'suspended') return undefined;
  if (outcome.kind === 'failed') {
    const { fatal, message } = outcome.failure;
    const text = fatal ? `agent ${agentTree.root.name} failed: ${message}` : message;
    const result = await resultInstead(new CoxswainError('INTERNAL', 'E_TOOL', text), behind);
    const abandons = `agent ${agentTree.root.name} failed`;
    return { result: await resultAfter(result, behind), abandons };
  }
  const stateDelta = storedDelta(invocation.fold.isolated.get(path) ?? {});
  const text = invocation.fold.isolatedText.get(path)?.text ?? '';
  const { outputSchema } = agentTree.root as { outputSchema?: JsonSchema };
  const value = outputValue(outputSchema, text);
  // Its caller would take half an answer for all of it.
  const cut = isCut(invocation, path) ? { note: "the answer was cut at the model's output limit" } : {};
  const result = normaliseReturn(value === text ? { result: text, ...cut } : value);
  return {
    result: await resultAfter(result, behind),
    actions: Object.keys(stateDelta).length > 0 ? { stateDelta } : {},
  };
}

function isCut({ session }: AgentContext['invocation'], path: string): boolean {
  const last = session.log.findLast(({ iso, content }) => iso === path && content?.role === 'model');
  return last !== undefined && isTruncated(last);
}

/** `request` if that is all there is, else the arguments as JSON. */
function agentInput(args: Record<string, unknown>): string {
  const names = Object.keys(args);
  return names.length === 1 && typeof args.request === 'string' ? args.request : JSON.stringify(args);
}

/** Runs it within its caller's signal, and no longer than its call is wanted. */
async function runUntil(
  cancelled: AbortSignal,
  outer: AbortSignal,
  run: (signal: AbortSignal) => Promise<Outcome>,
): Promise<Outcome> {
  const { controller, detach } = childController(outer);
  const stop = () => controller.abort(cancelled.reason);
  cancelled.addEventListener('abort', stop, { once: true });
  // While its input was being stored.
  if (cancelled.aborted) stop();
  try {
    return await run(controller.signal);
  } finally {
    cancelled.removeEventListener('abort', stop);
    detach();
  }
}
