import type { PendingRequest, StreamEndData } from '../../contracts/index.ts';
import type { Fold, InvocationResult } from '../../runtime/index.ts';

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
