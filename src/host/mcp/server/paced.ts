import type { Readable, Writable } from 'node:stream';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import { OwedAnswers } from '../../../session/index.ts';

/** Bytes that wait to be read by the client: above them nothing more of it is read. */
const MOST_UNREAD = 16 * 1024 * 1024;
/** Milliseconds in which a client takes some of what waits. */
const UNREAD_MS = 30_000;

/**
 * Reads of a client no faster than it reads: nothing, while a thousand answers are owed, or much is unread, and its end takes no
 * more. `cut`: it has taken nothing for so long.
 */
export function paced(
  transport: Transport,
  { input, output }: { input: Readable; output: Writable },
  cut: () => void,
): { end: () => void } {
  const owed = new OwedAnswers();
  let timer: NodeJS.Timeout | undefined;
  let isHeld = false;
  let hasEnded = false;
  const watch = () => {
    const unread = output.writableLength;
    timer = setTimeout(() => (output.writableLength < unread ? watch() : cut()), UNREAD_MS).unref();
  };
  const letGo = () => {
    clearTimeout(timer);
    output.off('drain', letGo);
    isHeld = false;
    if (!hasEnded) input.resume();
  };
  const look = () => {
    if (isHeld || hasEnded || !(owed.areTooMany || output.writableLength > MOST_UNREAD)) return;
    isHeld = true;
    input.pause();
    // What is answered at once is answered before it is known whether anybody reads it.
    setImmediate(() => {
      if (hasEnded || !output.writableNeedDrain) return letGo();
      output.once('drain', letGo);
      watch();
    });
  };
  const end = () => {
    hasEnded = true;
    letGo();
  };
  hearing(transport, (message) => {
    owed.asked(message);
    look();
  });
  const send = transport.send.bind(transport);
  transport.send = async (message, options) => {
    const sent = send(message, options);
    look();
    try {
      await sent;
    } finally {
      owed.answered(message);
    }
  };
  return { end };
}

/** Lets `hear` have each message before whoever listens. */
function hearing(transport: Transport, hear: (message: JSONRPCMessage) => void): void {
  let listener: Transport['onmessage'];
  Object.defineProperty(transport, 'onmessage', {
    get: () => listener,
    set: (value: Transport['onmessage']) => {
      listener =
        value &&
        ((message, extra) => {
          hear(message);
          value(message, extra);
        });
    },
  });
}
