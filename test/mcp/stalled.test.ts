import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { cutStalled } from '../../src/host/mcp/http/stalled.ts';

const BYTES = 32 * 1024 * 1024;

/** A server that answers with so many bytes, and how its answer ended. */
async function serving(stalledMs: number) {
  const over = Promise.withResolvers<boolean>();
  const server = createServer((_, response) => {
    cutStalled(response, stalledMs);
    response.once('close', () => over.resolve(response.writableFinished));
    response.end(Buffer.alloc(BYTES));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  onTestFinished(async () => {
    socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return { over: over.promise, socket };
}

test('ATK3-13 sibling: an MCP client that takes nothing of its answer is cut off', async () => {
  const { over, socket } = await serving(200);
  socket.pause();
  expect(await over).toBe(false);
});

test('one that reads has all of it', async () => {
  // A busy machine may rest for a while.
  const { over, socket } = await serving(20_000);
  let size = 0;
  socket.on('data', (data) => {
    size += data.length;
  });
  expect(await over).toBe(true);
  if (!socket.closed) await once(socket, 'close');
  expect(size).toBeGreaterThan(BYTES);
});
