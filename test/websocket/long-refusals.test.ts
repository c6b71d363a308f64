import type { Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { shortBody } from '../../src/adapters/remote/endpoint.ts';
import { connect } from '../../src/adapters/remote/index.ts';
import { stopServer } from '../mcp/raw-server.ts';

afterEach(() => void vi.useRealTimers());

test.each(['http', 'ws'])('ATK5-16 a refusal without an end is not read whole: %s', async (scheme) => {
  const ended = Promise.withResolvers<number>();
  const piece = Buffer.alloc(256 * 1024, 'n');
  const server: Server = createServer((_, response) => {
    let bytes = 0;
    response.writeHead(403, { 'content-type': 'text/plain' });
    const go = () => {
      // Enough for a reader without a bound to be known by it.
      while (bytes < 200 * piece.length) {
        bytes += piece.length;
        if (!response.write(piece)) return void response.once('drain', go);
      }
      response.end();
    };
    response.on('close', () => ended.resolve(bytes));
    go();
  });
  server.on('upgrade', (_, socket) => socket.end('HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => stopServer(server));
  const { port } = server.address() as AddressInfo;
  await expect(connect(`${scheme}://127.0.0.1:${port}/v1`, { token: 'a-token-of-anna' })).rejects.toMatchObject({
    code: scheme === 'ws' ? 'E_FORBIDDEN' : 'E_CONNECTION_LOST',
  });
  expect(await ended.promise).toBeLessThan(100 * piece.length);
});

test('ATK5-16 a refusal that does not end is read as far as it comes within ten seconds', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const body = new ReadableStream<Uint8Array>({ start: (out) => out.enqueue(new TextEncoder().encode('so far')) });
  const text = shortBody(new Response(body, { status: 503 }));
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await text).toBe('so far');
  expect(await shortBody(new Response('é'.repeat(70_000)))).toBe('é'.repeat(64 * 1024));
  expect(await shortBody(new Response(null))).toBe('');
});
