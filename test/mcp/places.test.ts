import { request as httpRequest } from 'node:http';
import { describe, expect, test, vi } from 'vitest';
import { createMcpHttp } from '../../src/host/mcp/index.ts';
import { openShop } from './kit.ts';

const rpc = (message: object) => ({ jsonrpc: '2.0', ...message });

const initialize = (capabilities: object = {}) =>
  rpc({
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities, clientInfo: { name: 'raw', version: '1' } },
  });

const callOf = (prompt: string) =>
  rpc({ id: 2, method: 'tools/call', params: { name: 'puppet', arguments: { prompt } } });
const list = rpc({ id: 3, method: 'tools/list' });

/** One place for sessions, and raw requests to it. */
async function onePlace(options: Parameters<typeof createMcpHttp>[1] = {}) {
  const shop = await openShop();
  const mcp = await createMcpHttp(shop.host, { maxSessions: 1, ...options });
  const send = (method: string, body?: object, session?: string) =>
    mcp.fetch(
      new Request('http://localhost/mcp', {
        method,
        headers: {
          host: 'localhost',
          accept: 'application/json, text/event-stream',
          ...(body ? { 'content-type': 'application/json' } : {}),
          ...(session === undefined ? {} : { 'mcp-session-id': session, 'mcp-protocol-version': '2025-06-18' }),
        },
        ...(body ? { body: JSON.stringify(body) } : {}),
      }),
    );
  return {
    shop,
    send,
    async status(body: object, session?: string): Promise<number> {
      const response = await send('POST', body, session);
      await response.text();
      return response.status;
    },
    async open(capabilities?: object): Promise<string> {
      const response = await send('POST', initialize(capabilities));
      await response.text();
      return response.headers.get('mcp-session-id') ?? '';
    },
    async [Symbol.asyncDispose]() {
      shop.waiting.release();
      await mcp.close();
      await shop[Symbol.asyncDispose]();
    },
  };
}

/** Reads a response until it says something. */
async function until(response: Response, text: string): Promise<ReadableStreamDefaultReader<string>> {
  const reader = (response.body as ReadableStream<Uint8Array<ArrayBuffer>>)
    .pipeThrough(new TextDecoderStream())
    .getReader();
  for (let seen = ''; !seen.includes(text); ) {
    const { done, value = '' } = await reader.read();
    if (done) throw new Error(`it ended without ${text}: ${seen}`);
    seen += value;
  }
  return reader;
}

describe('places for sessions', () => {
  test('MUT-M1 a session that was ended has no place any more: the next two share one', async () => {
    await using one = await onePlace();
    const ended = await one.open();
    await (await one.send('DELETE', undefined, ended)).text();
    const idle = await one.open();
    const newest = await one.open();
    expect(await one.status(list, idle)).toBe(404);
    expect(await one.status(list, newest)).toBe(200);
  });

  test('MUT-M2 one whose call runs keeps its place while its connection is broken', async () => {
    await using one = await onePlace();
    const call = await one.send('POST', callOf('call wait {}'), await one.open());
    await one.shop.waiting.started;
    await call.body?.cancel();
    expect(await one.status(initialize())).toBe(503);
  });

  test('what a client is told of the server: tools, whose list does not change', async () => {
    await using one = await onePlace();
    const response = await one.send('POST', initialize());
    const answer = /^data: (.*)$/m.exec(await response.text())?.[1] ?? '';
    expect(JSON.parse(answer)).toMatchObject({ result: { capabilities: { tools: { listChanged: false } } } });
  });

  test('a stream that only listens begins with a word, an answer has nothing before it', async () => {
    await using one = await onePlace();
    const session = await one.open();
    const listening = await one.send('GET', undefined, session);
    const reader = (listening.body as ReadableStream<Uint8Array>).getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toBe(':\n\n');
    await reader.cancel();
    const answer = await one.send('POST', list, session);
    expect(await answer.text()).not.toMatch(/^:/);
    const refused = await one.send('GET', undefined, 'unknown');
    expect(refused.status).toBe(404);
    expect(await refused.text()).not.toMatch(/^:/);
  });

  test('options with a slip are refused before there is a server', async () => {
    await using one = await onePlace();
    await expect(createMcpHttp(one.shop.host, { maxSesions: 1 } as never)).rejects.toThrow(/maxSesions/);
    await expect(createMcpHttp({} as never)).rejects.toThrow(/MCP/);
    await expect(createMcpHttp(one.shop.host, { agents: ['nobody'] })).rejects.toMatchObject({
      code: 'E_AGENT_UNKNOWN',
    });
  });

  test('MUT-M2 sibling: one whose call was cancelled by its client has none, whatever else it cancels', async () => {
    await using one = await onePlace();
    const working = await one.open();
    const call = await one.send('POST', callOf('call wait {}'), working);
    const reader = call.body?.getReader();
    await one.shop.waiting.started;
    await one.status(rpc({ method: 'notifications/cancelled' }), working);
    await one.status(rpc({ method: 'notifications/cancelled', params: { requestId: 'other' } }), working);
    await reader?.cancel();
    expect(await one.status(initialize())).toBe(503);
    await one.status(rpc({ method: 'notifications/cancelled', params: { requestId: 2 } }), working);
    expect(await one.status(initialize())).toBe(200);
    expect(await one.status(list, working)).toBe(404);
  });

  test('one that was not used for as long as it may is ended, and none before', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] });
    try {
      await using one = await onePlace({ sessionIdleMs: 1_000 });
      const idle = await one.open();
      await vi.advanceTimersByTimeAsync(900);
      expect(await one.status(list, idle)).toBe(200);
      await vi.advanceTimersByTimeAsync(2_100);
      expect(await one.status(list, idle)).toBe(404);
    } finally {
      vi.useRealTimers();
    }
  });

  test('SOAK-8 one that only waits for an answer of a client that is gone makes room', async () => {
    await using one = await onePlace();
    const session = await one.open({ elicitation: {} });
    await one.status(rpc({ method: 'notifications/initialized' }), session);
    const call = await one.send('POST', callOf('call pay {"amount": 5}'), session);
    const reader = await until(call, 'elicitation/create');
    // It is there: nobody takes its place.
    expect(await one.status(initialize())).toBe(503);
    await reader.cancel();
    expect(await one.status(initialize())).toBe(200);
    expect(await one.status(list, session)).toBe(404);
    expect(one.shop.runs).toEqual([]);
  });
});

test.each(['localhost@evil.test', 'localhost/x', 'localhost:80@evil.test', 'a b', 'evil.test#localhost'])(
  'ATT-B15 a Host that is no name and port is refused: %j',
  async (host) => {
    await using shop = await openShop();
    const status = await new Promise((resolve, reject) => {
      const headers = { host, accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
      const sent = httpRequest(shop.url, { method: 'POST', headers }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode));
      });
      sent.on('error', reject).end(JSON.stringify(initialize()));
    });
    expect(status).toBe(403);
    expect(shop.warnings).toEqual([]);
  },
);
