import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';

type Heard = NonNullable<Transport['onmessage']>;

/** A message that the protocol does not get. */
export const DROPPED: unique symbol = Symbol('dropped');

/** After what is queued by now, and what that queues. */
async function later(work: () => void): Promise<void> {
  await undefined;
  await undefined;
  work();
}

/**
 * Lets `hear` have each message before the protocol, which sets its listener on the instance, more than once, each around
 * the one before. A response is handed on a moment later than what came before it: the protocol looks at a notification in
 * the next turn of the queue, and forgets with the response who wanted to be told of progress.
 */
export function hearFirst(transport: Transport, hear: (message: JSONRPCMessage) => unknown): void {
  const heard = new WeakSet<JSONRPCMessage>();
  let listener: Heard | undefined;
  Object.defineProperty(transport, 'onmessage', {
    get: () => listener,
    set: (value: Heard | undefined) => {
      listener =
        value &&
        ((message, extra) => {
          const isFirst = !heard.has(message);
          heard.add(message);
          if (isFirst && hear(message) === DROPPED) return;
          if (!isFirst || 'method' in message) value(message, extra);
          else void later(() => value(message, extra));
        });
    },
  });
}
