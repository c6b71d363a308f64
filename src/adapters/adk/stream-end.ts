import type { AgentDescriptor, PendingRequest, StreamEndData } from '../../contracts/index.ts';
import { textOfParts } from '../../contracts/index.ts';
import type { Event, Standing } from '../../runtime/index.ts';
import { outputValue } from '../../runtime/index.ts';

/** What an end sums up; `end` is its record, where there is one. */
export function endData({ turn, open }: Standing, pending: PendingRequest[], end?: Event): StreamEndData {
  const data: StreamEndData = { usage: turn?.usage ?? {}, steps: turn?.llmCalls ?? 0, ...end?.actions.end?.data };
  if (pending.length > 0) data.pending = pending;
  const longRunning = [...open.values()].filter((call) => call.interim).map((call) => call.id);
  if (longRunning.length > 0) data.pendingToolIds = longRunning;
  return data;
}

/** A pause whose only question is a transfer is the host's to make; undefined for any other. */
export function transferOf({ pending = [] }: StreamEndData): StreamEndData['transfer'] {
  const only = pending.length === 1 ? pending[0] : undefined;
  if (only?.name !== 'transfer_to_agent' || only.kind !== 'tool') return undefined;
  return {
    requestId: only.requestId,
    from: only.agentPath.at(-1) ?? '',
    to: String(only.args?.agent_name ?? ''),
  };
}

/** The value that the agent's output schema promises, of its last words; undefined where it promises none. */
export function outputOf(log: readonly Event[], { name, outputSchema }: AgentDescriptor, turnId: string): unknown {
  if (!outputSchema) return undefined;
  const last = log.findLast(
    (event) =>
      event.turnId === turnId && event.author === name && event.iso === undefined && event.content?.role === 'model',
  );
  const text = textOfParts(last?.content?.parts ?? []);
  const value = outputValue(outputSchema, text);
  return value === text ? undefined : value;
}
