import type { AgentEvent } from '../../../contracts/index.ts';

/** Bytes of a frame around what it carries, generously. */
export const ENVELOPE = 2048;

/**
 * JSON of an event, or, where that is more than a peer takes, of an error event in its place: same id, cursor and
 * stream, so that order and resume points stay whole and nobody asks for it for ever.
 */
export function wireEvent(event: AgentEvent, maxPayload: number): string {
  const text = JSON.stringify(event);
  // Characters are at most three bytes; only what might be too large is measured.
  if (text.length * 3 + ENVELOPE <= maxPayload) return text;
  const bytes = Buffer.byteLength(text);
  if (bytes + ENVELOPE <= maxPayload) return text;
  return JSON.stringify(standIn(event, bytes, maxPayload));
}

/** The same as an object and its JSON, for answers that hold several events. `size`: its bytes. */
export function fittingEvent(event: AgentEvent, maxPayload: number): { event: AgentEvent; text: string; size: number } {
  const text = JSON.stringify(event);
  const size = Buffer.byteLength(text);
  if (size + ENVELOPE <= maxPayload) return { event, text, size };
  const fitting = standIn(event, size, maxPayload);
  return { event: fitting, text: JSON.stringify(fitting), size: ENVELOPE };
}

function standIn(event: AgentEvent, bytes: number, maxPayload: number): AgentEvent {
  const { id, timestamp, sessionId, streamId, turnId, seq, cursor, agentId, threadId } = event;
  const reason = 'reason' in event ? event.reason : undefined;
  const base = {
    id,
    timestamp,
    sessionId,
    streamId,
    ...(turnId === undefined ? {} : { turnId }),
    ...(seq === undefined ? {} : { seq }),
    ...(cursor === undefined ? {} : { cursor }),
    ...(agentId === undefined ? {} : { agentId }),
    ...(threadId === undefined ? {} : { threadId }),
    _meta: { oversized: { type: event.type, bytes } },
  };
  // A stream has an end, whatever its data weigh.
  if (event.type === 'stream_end') return { ...base, type: 'stream_end', reason: reason as string, data: {} };
  return {
    ...base,
    type: 'error',
    status: 'RESOURCE_EXHAUSTED',
    code: 'E_TOO_LARGE',
    message: `an event of type ${event.type} has ${bytes} bytes, more than one message may have (${maxPayload})`,
    fatal: false,
    retryable: false,
  };
}
