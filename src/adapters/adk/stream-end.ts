import { isoTime, newId } from '../../base/index.ts';
import type { AgentDescriptor, PendingRequest, StreamEndData, StreamEndEvent } from '../../contracts/index.ts';
import { textOfParts } from '../../contracts/index.ts';
import type { Event, InvocationResult, Standing } from '../../runtime/index.ts';
import { failureOf, outputValue } from '../../runtime/index.ts';
import type { RuntimeSession } from '../../runtime/session/index.ts';
import { cursorOf, isTruncated, project } from './project.ts';
import type { StreamSink } from './sink.ts';

/** How a stream ends whose run has come to `result`. */
export function streamEnd(
  session: RuntimeSession,
  descriptor: AgentDescriptor,
  streamId: string,
  result: InvocationResult,
  hostRuns: boolean,
): StreamEndEvent {
  const { id, standing } = session;
  const stored = result.end;
  const data = stored ? storedEnd(session, descriptor, stored) : endData(standing, session.open());
  const transfer = hostRuns && result.reason === 'input_required' ? transferOf(data) : undefined;
  const reason = transfer ? 'completed' : result.reason;
  if (transfer) data.transfer = transfer;
  // What else its record tells comes first.
  const n = stored ? project(id, stored).length : 0;
  return {
    id: stored ? `${stored.id}:${n}` : newId(),
    type: 'stream_end',
    timestamp: isoTime(stored?.timestamp),
    sessionId: id,
    streamId,
    ...(standing.turn ? { turnId: standing.turn.id } : {}),
    ...(stored ? { seq: stored.seq, cursor: cursorOf(stored.seq, n) } : {}),
    agentId: standing.occupant ?? descriptor.name,
    source: 'agent',
    reason,
    data,
  };
}

/** The log cannot be written any more: what was accepted still gets its end. */
export function lostEnd(session: RuntimeSession, sink: StreamSink, thrown: unknown): StreamEndEvent {
  const { status, code, message, retryable } = failureOf(thrown);
  const base = { timestamp: isoTime(), sessionId: session.id, streamId: sink.streamId };
  sink.push({ ...base, id: newId(), type: 'error', status, code, message, fatal: true, retryable });
  return { ...base, id: newId(), type: 'stream_end', reason: 'failed', data: { pending: session.open() } };
}

/** What a stored end sums up, now and whenever it is read back. */
export function storedEnd(session: RuntimeSession, descriptor: AgentDescriptor, end: Event): StreamEndData {
  const { log } = session.live;
  const standing = session.standing.ends.get(end.seq) ?? session.standing;
  const data = endData(standing, session.open(standing), end);
  const isCompleted = end.actions.end?.reason === 'completed';
  if (!isCompleted) return data;
  const output = outputOf(log, descriptor, end.turnId);
  return {
    ...data,
    ...(output === undefined ? {} : { output }),
    ...(isCutShort(log, end.turnId) ? { truncated: true } : {}),
  };
}

/** What was said last was cut at the model's output limit. An executor may say so behind its words. */
function isCutShort(log: readonly Event[], turnId: string): boolean {
  const last = log.findLast(
    (event) =>
      event.turnId === turnId &&
      event.iso === undefined &&
      (event.content?.role === 'model' || event.finishReason !== undefined),
  );
  return last !== undefined && isTruncated(last);
}

/** What an end sums up; `end` is its record, where there is one. */
export function endData({ turn, open }: Standing, pending: PendingRequest[], end?: Event): StreamEndData {
  const data: StreamEndData = { usage: turn?.usage ?? {}, steps: turn?.llmCalls ?? 0, ...end?.actions.end?.data };
  if (pending.length > 0) data.pending = pending;
  const longRunning = [...open.values()].filter((call) => call.interim).map((call) => call.id);
  if (longRunning.length > 0) data.pendingToolIds = longRunning;
  return data;
}

/** A pause whose only question is a transfer is the host's to make; undefined for any other. */
function transferOf({ pending = [] }: StreamEndData): StreamEndData['transfer'] {
  const only = pending.length === 1 ? pending[0] : undefined;
  if (only?.name !== 'transfer_to_agent' || only.kind !== 'tool') return undefined;
  return {
    requestId: only.requestId,
    from: only.agentPath.at(-1) ?? '',
    to: String(only.args?.agent_name ?? ''),
  };
}

/** The value that the agent's output schema promises, of its last words; undefined where it promises none. */
function outputOf(log: readonly Event[], { name, outputSchema }: AgentDescriptor, turnId: string): unknown {
  if (!outputSchema) return undefined;
  const last = log.findLast(
    (event) =>
      event.turnId === turnId && event.author === name && event.iso === undefined && event.content?.role === 'model',
  );
  const text = textOfParts(last?.content?.parts ?? []);
  const value = outputValue(outputSchema, text);
  return value === text ? undefined : value;
}
