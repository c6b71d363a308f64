import type { StoredEvent } from './event.ts';

export interface OpenedCall {
  callId: string;
  /** Tool's name. */
  name: string;
  /** seq of the event that made the call. */
  seq: number;
}

/**
 * What a batch does to the index of open calls: remove `closed`, then add `opened` (in call order). A call that is
 * made and answered within the batch is not opened.
 *
 * Ids and names become well-formed text, since they are keys and columns there.
 */
export function openCallChanges(events: readonly StoredEvent[]): { opened: OpenedCall[]; closed: string[] } {
  const opened = new Map<string, OpenedCall>();
  const closed: string[] = [];
  for (const event of events) {
    if (!event.content) continue;
    for (const part of event.content.parts) {
      if (part.type !== 'function_call' && part.type !== 'function_response') continue;
      const callId = part.id.toWellFormed();
      // One that is made again takes its place at the end.
      opened.delete(callId);
      if (part.type === 'function_response') closed.push(callId);
      else opened.set(callId, { callId, name: part.name.toWellFormed(), seq: event.seq });
    }
  }
  return { opened: [...opened.values()], closed };
}
