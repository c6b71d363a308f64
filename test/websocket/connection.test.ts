import { describe, expect, onTestFinished, test } from 'vitest';
import { connect } from '../../src/adapters/remote/index.ts';
import { bot, hostOf } from '../host/kit.ts';
import { byName, client, serving } from './kit.ts';
import { Raw } from './raw.ts';

function lone() {
  return hostOf(bot(['hello', 'again'])).host;
}

describe('a connection', () => {
  test('WS-8 begins with initialize, once', async () => {
    const server = await serving(lone());
    const early = await Raw.open(server.url, { token: 'anna' });
    early.send({ id: 1, method: 'agents/list' });
    expect(await early.closed).toEqual({ code: 4500, reason: 'initialize comes first' });
    const twice = await Raw.ready(server.url);
    twice.send({ id: 2, method: 'initialize', params: { protocolVersion: '1' } });
    expect((await twice.closed).code).toBe(4500);
  });

  test('WS-8 ATT-B14 that says more before its initialize is answered is told to wait', async () => {
    const server = await serving(lone());
    const hasty = await Raw.open(server.url, { token: 'anna' });
    hasty.send({ id: 1, method: 'initialize', params: { protocolVersion: '1' } });
    hasty.send({ id: 2, method: 'ping' });
    expect(await hasty.closed).toEqual({ code: 4500, reason: 'wait for the answer to initialize' });
  });

  test('WS-9 that never initialises is closed, a thousand of them too, and others are served', async () => {
    const server = await serving(lone(), {
      limits: { initTimeoutMs: 300, maxUninitialised: 900, maxConnectionsPerPrincipal: 1000 },
    });
    const opened = await Promise.allSettled(
      Array.from({ length: 1000 }, () => Raw.open(server.url, { token: 'anna' })),
    );
    const silent = opened.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    expect(silent.length).toBeGreaterThan(0);
    const codes = await Promise.all(silent.map(async ({ closed }) => (await closed).code));
    expect(new Set(codes)).toEqual(new Set([4408]));
    expect((await client(server)).agents).toHaveLength(1);
  });

  test('that has no limit of time is made all the same', async () => {
    const remote = await client(await serving(lone()), 'anna', { connectTimeoutMs: Number.POSITIVE_INFINITY });
    expect(remote.agents).toHaveLength(1);
  });

  test('WS-10 of another version is refused for good', async () => {
    const raw = await Raw.open((await serving(lone())).url, { token: 'anna' });
    expect(await raw.request('initialize', { protocolVersion: '2' })).toMatchObject({
      error: { code: -32602, data: { code: 'E_PROTOCOL' } },
    });
    expect((await raw.closed).code).toBe(4506);
  });

  test('WS-11 ends when its credentials do, and comes back with new ones', async () => {
    const server = await serving(lone(), {
      authenticate: (request) => {
        const principal = byName(request);
        return principal && { principal, expiresAt: principal.id === 'short' ? Date.now() + 50 : Date.now() + 60_000 };
      },
    });
    const raw = await Raw.ready(server.url, 'short');
    expect((await raw.closed).code).toBe(4401);
    const tokens = ['short', 'long'];
    const back = Promise.withResolvers<void>();
    const remote = await connect(server.url, {
      getToken: () => tokens.shift() ?? 'long',
      onState: (state) => {
        if (state === 'ready' && tokens.length === 0) back.resolve();
      },
    });
    onTestFinished(() => remote.close());
    await back.promise;
    expect(remote.principal).toEqual({ id: 'long' });
  });

  test.each([
    ['text that is no JSON', '{"jsonrpc"'],
    ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"ping"}]'],
    ['no JSON-RPC', '{"id":1,"method":"ping"}'],
    ['a response', '{"jsonrpc":"2.0","id":1,"result":{}}'],
    ['an id that is an object', '{"jsonrpc":"2.0","id":{},"method":"ping"}'],
    ['an id that no JSON gives back', '{"jsonrpc":"2.0","id":1e999,"method":"ping"}'],
    ['an id of a megabyte', `{"jsonrpc":"2.0","id":"${'x'.repeat(1e6)}","method":"ping"}`],
    [
      'JSON nested 100,000 deep',
      `{"jsonrpc":"2.0","id":1,"method":"ping","params":${'['.repeat(1e5)}${']'.repeat(1e5)}}`,
    ],
    ['a binary frame', Buffer.from('{"jsonrpc":"2.0","id":1,"method":"ping"}')],
  ])('WS-12 is closed at %s, and others are served on', async (_, frame) => {
    const server = await serving(lone());
    const other = await Raw.ready(server.url);
    const raw = await Raw.ready(server.url);
    raw.ws.send(frame);
    expect((await raw.closed).code).toBe(4500);
    expect(await other.ask('ping')).toEqual({});
  });

  test('WS-13 is closed with 1009 at a message that is too large', async () => {
    const server = await serving(lone(), { limits: { maxPayload: 64 * 1024 } });
    const other = await Raw.ready(server.url);
    const raw = await Raw.ready(server.url);
    raw.ws.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping', params: { x: 'y'.repeat(70_000) } }));
    expect((await raw.closed).code).toBe(1009);
    expect(await other.ask('ping')).toEqual({});
    const remote = await client(server);
    const session = await remote.open('bot');
    await expect(session.steer({ content: 'z'.repeat(70_000) })).rejects.toMatchObject({ code: 'E_TOO_LARGE' });
    expect(remote.state).toBe('ready');
  });

  test('WS-14 that sends 10,000 frames a second is closed to come back later, and others are served on', async () => {
    const server = await serving(lone());
    const other = await Raw.ready(server.url);
    const raw = await Raw.ready(server.url);
    for (let index = 0; index < 10_000; index++)
      raw.notify('session/ack', { sessionId: 's', epoch: 'e', offset: index });
    expect((await raw.closed).code).toBe(4429);
    expect(await other.ask('ping')).toEqual({});
  });

  test('WS-15 is told of unknown methods and of params that do not fit', async () => {
    const raw = await Raw.ready((await serving(lone())).url);
    for (const method of ['session/destroy', 'constructor', '__proto__']) {
      expect(await raw.request(method)).toMatchObject({ error: { code: -32601, data: { code: 'E_PROTOCOL' } } });
    }
    expect(await raw.request('session/open', { agent: 7 })).toMatchObject({
      error: { code: -32602, message: expect.stringContaining('params.agent') },
    });
    expect(await raw.request('session/open', { agent: 'nobody' })).toMatchObject({
      error: { code: -32000, data: { code: 'E_AGENT_UNKNOWN' } },
    });
  });

  test('WS-16 that answers no ping is cut off after two misses; one that does stays', async () => {
    const server = await serving(lone(), { limits: { heartbeatMs: 40 } });
    const live = await Raw.ready(server.url);
    const dead = await Raw.ready(server.url);
    (dead.ws as unknown as { _receiver: { removeAllListeners(name: string): void } })._receiver.removeAllListeners(
      'ping',
    );
    expect((await dead.closed).code).toBe(1006);
    expect(await live.ask('ping')).toEqual({});
  });

  test('WS-17 that asks too much at once, or holds too many sessions, is told so', async () => {
    const server = await serving(lone(), { limits: { maxRequests: 3, maxSessions: 1 } });
    const raw = await Raw.ready(server.url);
    const answers = await Promise.all(Array.from({ length: 10 }, () => raw.request('session/list')));
    const refused = answers.filter(({ error }) => error?.data?.code === 'E_RATE_LIMIT');
    expect(refused).toHaveLength(7);
    await raw.ask('session/open', { agent: 'bot' });
    expect((await raw.request('session/open', { agent: 'bot' })).error?.data).toMatchObject({
      code: 'E_RATE_LIMIT',
      retryable: true,
    });
  });

  test('WS-17 that wants no answers is bounded all the same; acknowledgements are not counted', async () => {
    const asked: string[] = [];
    const server = await serving(lone(), {
      limits: { maxRequests: 3 },
      authorize: (_, method) => {
        asked.push(method);
        return new Promise(() => {});
      },
    });
    const waiting = await Raw.ready(server.url);
    for (const id of [1, 2, 3]) waiting.send({ id: `l${id}`, method: 'session/list' });
    for (let offset = 0; offset < 10; offset++) waiting.notify('session/ack', { sessionId: 's', epoch: 'e', offset });
    expect((await waiting.request('ping')).error?.data).toMatchObject({ code: 'E_RATE_LIMIT' });
    const raw = await Raw.ready(server.url);
    for (let index = 0; index < 10; index++) raw.notify('session/list', {});
    expect((await raw.closed).code).toBe(4429);
    expect(asked).toHaveLength(6);
  });

  test('WS-5 whose method is none has none of its words logged', async () => {
    const logged: object[] = [];
    const server = await serving(lone(), { log: (entry) => logged.push(entry) });
    const raw = await Raw.ready(server.url);
    await raw.request('bearer-of-a-secret');
    expect(logged).toContainEqual(expect.objectContaining({ event: 'refused', method: 'unknown', code: 'E_PROTOCOL' }));
    expect(JSON.stringify(logged)).not.toContain('secret');
  });

  test('WS-18 may do what the server authorises; a throw is a no', async () => {
    const server = await serving(lone(), {
      authorize: (principal, method) => {
        if (method === 'session/list') throw new Error('broken');
        return principal.id !== 'anna' || method !== 'session/open';
      },
      warn: () => {},
    });
    const anna = await Raw.ready(server.url);
    await expect(anna.ask('session/open', { agent: 'bot' })).rejects.toMatchObject({ code: 'E_FORBIDDEN' });
    await expect(anna.ask('session/list')).rejects.toMatchObject({ code: 'E_FORBIDDEN' });
    expect(await anna.ask('agents/list')).toHaveProperty('agents');
  });
});
