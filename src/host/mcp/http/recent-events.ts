import type { EventStore, JSONRPCMessage } from '@modelcontextprotocol/server';

interface Kept {
  id: string;
  streamId: string;
  message: JSONRPCMessage;
  bytes: number;
}

/**
 * The newest messages of one session, for a client whose stream broke: the transport replays what came after the last
 * one that the client has seen. The oldest go first; the newest is kept however large it is.
 *
 * It has no `getStreamIdForEventId`: with it the transport refuses a client that is back before its old connection is
 * known to be dead; without it the new connection takes the place of the old one.
 */
export class RecentEvents implements EventStore {
  readonly #maxBytes: number;
  #kept: Kept[] = [];
  #bytes = 0;
  #count = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  async storeEvent(streamId: string, message: JSONRPCMessage): Promise<string> {
    this.#count += 1;
    const id = String(this.#count);
    const bytes = Buffer.byteLength(JSON.stringify(message));
    this.#kept.push({ id, streamId, message, bytes });
    this.#bytes += bytes;
    while (this.#bytes > this.#maxBytes && this.#kept.length > 1) this.#bytes -= this.#kept.shift()?.bytes ?? 0;
    return id;
  }

  /** False for one that is not kept any more: what came after it may be gone too. */
  has(eventId: string): boolean {
    return this.#kept.some(({ id }) => id === eventId);
  }

  async replayEventsAfter(
    lastEventId: string,
    { send }: { send: (eventId: string, message: JSONRPCMessage) => Promise<void> },
  ): Promise<string> {
    const at = this.#kept.findIndex(({ id }) => id === lastEventId);
    const streamId = this.#kept[at]?.streamId ?? '';
    for (const kept of this.#kept.slice(at + 1)) {
      if (kept.streamId === streamId) await send(kept.id, kept.message);
    }
    return streamId;
  }
}
