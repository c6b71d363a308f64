import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { Transport } from '../connection/index.ts';

/** Milliseconds that a peer has to answer a close. */
const CLOSE_MS = 10_000;

/** Pings that a peer may miss. */
const MISSES = 2;

/** A socket of `ws` as the state machine sees it: writes of one tick leave together. */
export function transportOf(ws: WebSocket, socket: Socket): Transport {
  let isCorked = false;
  const uncork = () => {
    isCorked = false;
    socket.uncork();
  };
  return {
    protocol: ws.protocol,
    get bufferedAmount() {
      return ws.bufferedAmount;
    },
    get unwritten() {
      // A write counts as one in the stream above, however much of it is gone; the handle knows, as it does for timeouts.
      return (socket as { _handle?: { writeQueueSize?: number } })._handle?.writeQueueSize ?? ws.bufferedAmount;
    },
    send(text) {
      if (ws.readyState !== ws.OPEN) return;
      if (!isCorked) {
        isCorked = true;
        socket.cork();
        process.nextTick(uncork);
      }
      ws.send(text);
    },
    close(code, reason, patienceMs = CLOSE_MS) {
      // At most 123 bytes of reason fit into a close frame.
      ws.close(code, reason.replace(/[^\x20-\x7e]/g, '?').slice(0, 120));
      // A peer that does not answer the close is cut off.
      setTimeout(() => ws.terminate(), patienceMs).unref();
    },
    pause() {
      ws.pause();
    },
    resume() {
      ws.resume();
    },
    onMessage(listener) {
      ws.on('message', (data, isBinary) => listener(isBinary ? '' : data.toString()));
    },
    onDrain(listener) {
      socket.on('drain', listener);
    },
  };
}

/** Pings on a quiet connection; any frame counts as a sign of life. */
export function keepAlive(ws: WebSocket, everyMs: number): () => void {
  let misses = 0;
  const alive = () => {
    misses = 0;
  };
  ws.on('message', alive);
  ws.on('pong', alive);
  ws.on('ping', alive);
  const timer = setInterval(() => {
    if (misses >= MISSES) return ws.terminate();
    misses++;
    ws.ping();
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}
