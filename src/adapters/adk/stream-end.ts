import type { AgentDescriptor, PendingRequest, StreamEndData } from '../../contracts/index.ts';
import { textOfParts } from '../../contracts/index.ts';
import type { Event, Fold, InvocationResult } from '../../runtime/index.ts';
import { outputValue } from '../../runtime/index.ts';

/** Reason and data of a stream's end. */
export function endData(
  fold: Fold,
  result: InvocationResult,
  pending: PendingRequest[],
  hostRuns: boolean,
): { reason: string; data: StreamEndData } {
  const data: StreamEndData = { usage: fold.turn?.usage ?? {}, steps: fold.turn?.llmCalls ?? 0 };
  if (pending.length > 0) data.pending = pending;
  if (result.escalate) data.escalateReason = 'escalate';
  if (result.failure) data.reason = result.failure.message;
  const longRunning = [...fold.open.values()].filter((call) => call.interim).map((call) => call.id);
  if (longRunning.length > 0) data.pendingToolIds = longRunning;
  const only = pending.length === 1 ? pending[0] : undefined;
  if (hostRuns && result.reason === 'input_required' && only?.name === 'transfer_to_agent' && only.kind === 'tool') {
    data.transfer = {
      requestId: only.requestId,
      from: only.agentPath.at(-1) ?? '',
      to: String(only.args?.agent_name ?? ''),
    };
    return { reason: 'completed', data };
  }
  return { reason: result.reason, data };
}

/** The value that the agent's output schema promises, of its last words; undefined where it promises none. */
export function outputOf(log: readonly Event[], { name, outputSchema }: AgentDescriptor): unknown {
  if (!outputSchema) return undefined;
  const last = log.findLast(
    ({ author, iso, content }) => author === name && iso === undefined && content?.role === 'model',
  );
  const text = textOfParts(last?.content?.parts ?? []);
  const value = outputValue(outputSchema, text);
  return value === text ? undefined : value;
}
