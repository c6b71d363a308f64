import type { ServerResponse } from 'node:http';

/**
 * Cuts off a client that takes nothing of what is written to it for so many milliseconds: what it does not read is held here. One
 * that is slow is not stuck, and a stream on which nothing is sent may be quiet.
 */
export function cutStalled(response: ServerResponse, ms: number): void {
  response.setTimeout(ms, () => {
    const { socket } = response;
    if (socket && socket.writableLength > 0) socket.destroy();
  });
}
