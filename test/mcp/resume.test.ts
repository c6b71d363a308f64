import type { AddressInfo, Socket } from 'node:net';
import { connect as connectSocket, createServer as createTcpServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { RecentEvents } from '../../src/host/mcp/http/recent-events.ts';
import { connect, textOf } from './clients.ts';
import { openShop } from './kit.ts';

/** A way to the server that can be cut under its clients. */
async function cuttable(url: string) {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  let heard = (_: string) => {};
  const proxy = createTcpServer((client) => {
    const server = connectSocket(Number(target.port), target.hostname);
    server.on('data', (chunk) => heard(String(chunk)));
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(one);
      one.pipe(other);
      one
        .on('error', () => {})
        .on('close', () => {
          sockets.delete(one);
          other.destroy();
        });
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}${target.pathname}`,
    /** Resolves when the server has sent the first event of a stream that begins from now on. */
    begins: () =>
      new Promise<void>((resolve) => {
        heard = (text) => /^id: /m.test(text) && resolve();
      }),
    cut() {
      for (const socket of sockets) socket.destroy();
    },
    [Symbol.dispose]() {
      for (const socket of sockets) socket.destroy();
      proxy.close();
    },
  };
}

const accept = 'application/json, text/event-stream';

function initialize(url: string): Promise<Response> {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } };
  return fetch(url, {
    method: 'POST',
    headers: { accept, 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
  });
}

const wait = { prompt: 'call wait {}' };

test.concurrent.each(['v2-2025', 'v1'] as const)(
  '%s: its connection breaks under a call: the question still comes, the tool runs once, the result comes',
  async (kind) => {
    await using shop = await openShop();
    using way = await cuttable(shop.url);
    await using client = await connect(
      kind,
      { url: way.url },
      { onElicit: () => ({ action: 'accept', content: { decision: 'allow' } }) },
    );
    const begun = way.begins();
    const call = client.call('puppet', { prompt: 'call wait {} pay {"amount": 5}' });
    await Promise.all([begun, shop.waiting.started]);
    way.cut();
    shop.waiting.release();
    expect(textOf(await call)).toContain('paid 5');
    expect(shop.runs).toEqual([5]);
    expect(await client.call('puppet', { prompt: 'count' }).then(textOf)).toBe('1 said');
  },
);

test('a session whose call runs makes no room for others, though its connection has broken', async () => {
  await using shop = await openShop({ mcp: { maxSessions: 2 } });
  using way = await cuttable(shop.url);
  await using client = await connect('v1', { url: way.url });
  const idle = await initialize(shop.url);
  await idle.text();
  const begun = way.begins();
  const call = client.call('puppet', wait);
  await Promise.all([begun, shop.waiting.started]);
  way.cut();
  // Used later than the other one.
  const headers = {
    accept,
    'content-type': 'application/json',
    'mcp-session-id': idle.headers.get('mcp-session-id') ?? '',
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'ping' });
  await (await fetch(shop.url, { method: 'POST', headers, body })).text();
  await using other = await connect('v1', { url: shop.url });
  expect(await other.call('puppet', { prompt: 'say hello' }).then(textOf)).toBe('hello');
  shop.waiting.release();
  expect(textOf(await call)).toBe('got {"content":"waited"}');
});

test('whoever comes back for what is not kept is refused, not left to wait', async () => {
  await using shop = await openShop();
  const opened = await initialize(shop.url);
  const headers = { accept, 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '', 'last-event-id': '99' };
  const back = await fetch(shop.url, { headers });
  expect([back.status, await back.text()]).toEqual([400, expect.stringContaining('not kept any more')]);
});

describe('what is kept of a session', () => {
  const message = (n: number) => ({ jsonrpc: '2.0' as const, method: 'notifications/message', params: { n } });
  const replayed = async (events: RecentEvents, id: string) => {
    const sent: unknown[] = [];
    const streamId = await events.replayEventsAfter(id, {
      async send(eventId, said) {
        sent.push([eventId, 'params' in said ? said.params?.n : undefined]);
      },
    });
    return { streamId, sent };
  };

  test('what came after the last that was seen, of that stream alone', async () => {
    const events = new RecentEvents(10_000);
    const ids: string[] = [];
    for (const [stream, n] of [
      ['a', 1],
      ['b', 2],
      ['a', 3],
    ] as const)
      ids.push(await events.storeEvent(stream, message(n)));
    expect(await replayed(events, ids[0] ?? '')).toEqual({ streamId: 'a', sent: [[ids[2], 3]] });
  });

  test('the oldest go, and whoever has seen only those is refused; the newest stays, however large', async () => {
    const events = new RecentEvents(200);
    const first = await events.storeEvent('a', message(1));
    const second = await events.storeEvent('a', message(2));
    const large = await events.storeEvent('a', { jsonrpc: '2.0', id: 1, result: { text: 'x'.repeat(1_000) } });
    expect([first, second, large, 'made up'].map((id) => events.has(id))).toEqual([false, false, true, false]);
  });
});
