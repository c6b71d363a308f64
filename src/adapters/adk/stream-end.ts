import { isoTime, newId } from '../../base/index.ts';
import type { AgentDescriptor, StreamEndData, StreamEndEvent } from '../../contracts/index.ts';
import type { InvocationResult } from '../../runtime/index.ts';
import { failureOf } from '../../runtime/index.ts';
import type { RuntimeSession } from '../../runtime/session/index.ts';
import { endData, storedEnd } from '../../runtime/session/index.ts';
import { cursorOf } from '../../session/resume/index.ts';
import { project } from './project.ts';
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
