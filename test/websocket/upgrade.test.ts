import { connect as tcp } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { connect } from '../../src/adapters/remote/index.ts';
import { serve } from '../../src/host/websocket/index.ts';
import { bot, door, hostOf } from '../host/kit.ts';
import { flaky } from './flaky.ts';
import { client, serving } from './kit.ts';
import { Raw } from './raw.ts';

const EVIL = 'https://evil.test';

function lone() {
  return hostOf(bot(['hello'])).host;
}

describe('the upgrade', () => {
  test('WS-1 is at /v1; other paths have no socket, and /v1 without an upgrade says so', async () => {
    const server = await serving(lone());
    await expect(Raw.open(server.url.replace('/v1', '/v2'), { token: 'anna' })).rejects.toThrow('404');
    const plain = await fetch(server.url.replace('ws', 'http'));
    expect([plain.status, plain.headers.get('upgrade')]).toEqual([426, 'websocket']);
  });

  test('WS-2 needs the subprotocol', async () => {
    const server = await serving(lone());
    await expect(Raw.open(server.url, { token: 'anna', protocols: [] })).rejects.toThrow('400');
    await expect(Raw.open(server.url, { token: 'anna', protocols: ['coxswain.v9'] })).rejects.toThrow('400');
  });

  test('WS-3 F42 no credentials, or none that are known, are refused over HTTP', async () => {
    const server = await serving(lone());
    await expect(Raw.open(server.url)).rejects.toThrow('401');
    await expect(Raw.open(server.url, { token: 'wrong' })).rejects.toThrow('401');
  });

  test('WS-3 WS-17 a client is told why it was refused: credentials, path, a server that is full or not there', async () => {
    const server = await serving(lone(), { limits: { maxConnectionsPerPrincipal: 1, maxConnections: 2 } });
    const unknown = { code: 'E_UNAUTHENTICATED', status: 'UNAUTHENTICATED', retryable: false };
    await expect(connect(server.url, { token: 'wrong' })).rejects.toMatchObject(unknown);
    await expect(connect(server.url)).rejects.toMatchObject(unknown);
    await expect(connect(server.url.replace('/v1', '/v2'), { token: 'anna' })).rejects.toMatchObject({
      code: 'E_PROTOCOL',
      message: expect.stringContaining('/v1'),
    });
    await expect(connect(server.url.replace('127.0.0.1', '127.0.0.2'), { token: 'anna' })).rejects.toMatchObject({
      code: 'E_CONNECTION_LOST',
      // NEW-R2: where nobody listens the address is told.
      message: expect.stringMatching(/^cannot reach ws:\/\/127\.0\.0\.2:\d+\/v1: nothing answers there/),
    });
    await client(server, 'anna');
    await expect(connect(server.url, { token: 'anna' })).rejects.toMatchObject({ code: 'E_RATE_LIMIT' });
    await client(server, 'bert');
    await expect(connect(server.url, { token: 'carl' })).rejects.toMatchObject({
      code: 'E_CONNECTION_LOST',
      retryable: true,
      message: expect.stringContaining('503'),
    });
  });

  test('WS-3 a token that is refused later ends the client; one that can ask for another goes on', async () => {
    const known = new Set(['anna', 'bert']);
    const authenticate = ({ token }: { token?: string }) => (token && known.has(token) ? { id: token } : undefined);
    const host = lone();
    const server = await serving(host, { authenticate });
    const over = door<string>();
    const fixed = await client(server, 'anna', { onState: (state, why) => state === 'closed' && over.open(why ?? '') });
    const session = await fixed.open('bot');
    const tokens = ['anna', 'anna', 'bert'];
    const back = door();
    const network = flaky([]);
    const fresh = await connect(server.url, {
      getToken: () => tokens.shift() ?? 'bert',
      WebSocket: network.WebSocket,
      minBackoffMs: 1,
      onState: (state) => state === 'ready' && tokens.length === 0 && back.open(),
    });
    onTestFinished(() => fresh.close());
    known.delete('anna');
    await server.close({ deadlineMs: 0 });
    await serving(host, { authenticate, port: server.port });
    expect(await over.opened).toContain('401');
    await expect(session.pending()).rejects.toMatchObject({ code: 'E_UNAUTHENTICATED' });
    await back.opened;
    expect(fresh.principal).toEqual({ id: 'bert' });
  });

  test.each(['nonsense', 'ftp://127.0.0.1/v1', 'ws://127.0.0.1/v1?token=sesame', 'ws://anna:sesame@127.0.0.1/v1', ''])(
    'WS-5 an address that is none is refused before anything is sent, and not repeated: %s',
    async (url) => {
      const error = await connect(url, { token: 'x' }).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 'E_BAD_INPUT', status: 'INVALID_ARGUMENT' });
      expect(String(error)).not.toContain('sesame');
    },
  );

  test('WS-3 WS-5 an authenticator that breaks lets nobody in, and what it says of a token is told to nobody', async () => {
    const lines: unknown[] = [];
    const server = await serving(lone(), {
      authenticate: ({ token }) => {
        if (token === 'anna') return { id: 'anna' };
        throw new RangeError(`cannot look up ${token}`);
      },
      allowedOrigins: ['https://app.example'],
      lateCredentials: true,
      log: (entry) => lines.push(entry),
      warn: (...words) => lines.push(words.map((word) => (word instanceof Error ? `${word.stack}` : word))),
    });
    await expect(Raw.open(server.url, { token: 'sesame' })).rejects.toThrow('503');
    await expect(connect(server.url, { token: 'sesame' })).rejects.toMatchObject({ retryable: true });
    const late = await Raw.open(server.url, { headers: { origin: 'https://app.example' } });
    const { error } = await late.request('initialize', { protocolVersion: '1', token: 'sesame' });
    expect(error?.data).toMatchObject({ status: 'UNAVAILABLE', retryable: true });
    expect((await late.closed).code).toBe(1011);
    expect(JSON.stringify([lines, late.received])).not.toContain('sesame');
    expect(JSON.stringify(lines)).toMatch(/authenticate threw RangeError at .*upgrade.test.ts/);
    await client(server, 'anna');
  });

  test('WS-3 of a fault whose words were changed since it was made, still only its kind and place are told', async () => {
    const warnings: string[] = [];
    const server = await serving(lone(), {
      authenticate: ({ token }) => {
        const fault = new RangeError(`met ${token} at home`);
        fault.message = 'no';
        throw fault;
      },
      warn: (line) => warnings.push(line),
    });
    await expect(Raw.open(server.url, { token: 'sesame' })).rejects.toThrow('503');
    expect(warnings).toEqual([expect.stringMatching(/threw RangeError at .*upgrade.test.ts/)]);
    expect(warnings.join()).not.toMatch(/sesame|home/);
  });

  test('WS-6 a header may have spaces before its token, and nothing behind it', async () => {
    const server = await serving(lone());
    const of = (authorization: string) => Raw.open(server.url, { headers: { authorization } });
    const raw = await of('bearer   anna');
    expect(await raw.ask('initialize', { protocolVersion: '1' })).toMatchObject({ principal: { id: 'anna' } });
    await expect(of('Bearer anna, Basic x')).rejects.toThrow('401');
  });

  test.each([
    [{ sub: 'anna' }, 'id'],
    [{ id: '' }, 'id'],
    [{ principal: { roles: ['boss'] } }, 'id'],
    [{ principal: undefined }, 'undefined'],
    [{ id: 'anna', roles: 'no-boss' }, 'roles'],
    ['anna', 'string'],
  ])('WS-3 an authenticator that names nobody lets nobody in, and the server is told: %j', async (found, why) => {
    const warnings: string[] = [];
    const server = await serving(lone(), { authenticate: () => found as never, warn: (line) => warnings.push(line) });
    await expect(Raw.open(server.url, { token: 'anna' })).rejects.toThrow('503');
    expect(warnings).toEqual([expect.stringContaining(why)]);
  });

  test('WS-4 F42 a foreign Origin and a foreign Host are refused, also on loopback and with a token', async () => {
    const server = await serving(lone(), { allowedOrigins: ['https://app.example'] });
    await expect(Raw.open(server.url, { token: 'anna', headers: { origin: EVIL } })).rejects.toThrow('403');
    await expect(Raw.open(server.url, { token: 'anna', headers: { origin: 'null' } })).rejects.toThrow('403');
    await expect(Raw.open(server.url, { token: 'anna', headers: { host: 'rebound.test' } })).rejects.toThrow('403');
    const page = await Raw.open(server.url, { token: 'anna', headers: { origin: 'https://app.example' } });
    expect(await page.ask('initialize', { protocolVersion: '1' })).toMatchObject({ principal: { id: 'anna' } });
  });

  test('WS-5 F42 a token in the query is refused and logged nowhere', async () => {
    const lines: object[] = [];
    const server = await serving(lone(), { log: (entry) => lines.push(entry) });
    await expect(Raw.open(`${server.url}?token=sesame`)).rejects.toThrow('400');
    await expect(Raw.open(`${server.url}?token=sesame`, { token: 'anna' })).rejects.toThrow('400');
    await client(server, 'hush:billing');
    expect(lines.length).toBeGreaterThan(2);
    expect(JSON.stringify(lines)).not.toMatch(/sesame|hush:billing|Bearer/);
  });

  test('WS-6 ATT-B15 two tokens that differ are refused, wherever they stand', async () => {
    const server = await serving(lone());
    const bearer = (token: string) => `bearer.${Buffer.from(token).toString('base64url')}`;
    const protocols = ['coxswain.v1', bearer('bert')];
    await expect(Raw.open(server.url, { token: 'anna', protocols })).rejects.toThrow('400');
    await expect(Raw.open(server.url, { protocols: [...protocols, bearer('anna')] })).rejects.toThrow('400');
    const same = await Raw.open(server.url, { token: 'bert', protocols });
    expect(await same.ask('initialize', { protocolVersion: '1' })).toMatchObject({ principal: { id: 'bert' } });
  });

  test('WS-6 a token comes by header, by subprotocol, or, where the server allows it, with the first message', async () => {
    const options = { allowedOrigins: ['https://app.example'], lateCredentials: true };
    const server = await serving(lone(), options);
    const bearer = `bearer.${Buffer.from('bert').toString('base64url')}`;
    const second = await Raw.open(server.url, { protocols: ['coxswain.v1', bearer] });
    expect(second.ws.protocol).toBe('coxswain.v1');
    expect(await second.ask('initialize', { protocolVersion: '1' })).toMatchObject({ principal: { id: 'bert' } });
    const origin = { headers: { origin: 'https://app.example' } };
    const late = await Raw.open(server.url, origin);
    expect(await late.ask('initialize', { protocolVersion: '1', token: 'carl' })).toMatchObject({
      principal: { id: 'carl' },
    });
    const never = await Raw.open(server.url, origin);
    expect(await never.request('initialize', { protocolVersion: '1', token: 'wrong' })).toMatchObject({
      error: { data: { code: 'E_UNAUTHENTICATED' } },
    });
    expect((await never.closed).code).toBe(4401);
    // Without an Origin nothing but a token opens the door.
    await expect(Raw.open(server.url)).rejects.toThrow('401');
  });

  test('WS-7 without an authenticator: loopback only, with a token of the server', async () => {
    const host = lone();
    await expect(serve(host, { host: '0.0.0.0' })).rejects.toMatchObject({ code: 'E_BAD_INPUT' });
    const server = await serve(host);
    onTestFinished(() => server.close());
    await expect(Raw.open(server.url)).rejects.toThrow('401');
    const remote = await client(server, server.token);
    expect(remote.principal).toEqual({ id: 'local' });
  });

  test('WS-17 too many connections are refused with 503, and those that are there are served on', async () => {
    const server = await serving(lone(), { limits: { maxConnections: 2 } });
    const one = await Raw.ready(server.url);
    await Raw.ready(server.url);
    await expect(Raw.open(server.url, { token: 'anna' })).rejects.toThrow('503');
    expect(await one.ask('ping')).toEqual({});
  });

  test('WS-17 upgrades that wait for a slow authenticator are bounded too', async () => {
    const answer = door();
    let asked = 0;
    const server = await serving(lone(), {
      authenticate: async () => {
        asked++;
        await answer.opened;
        return { id: 'anna' };
      },
      limits: { maxUninitialised: 3 },
    });
    const opening = Array.from({ length: 20 }, () => Raw.open(server.url, { token: 'anna' }));
    const first = await Promise.race([...opening.map((one) => one.catch((error: Error) => error.message))]);
    expect(first).toContain('503');
    answer.open();
    const opened = await Promise.allSettled(opening);
    expect(asked).toBe(3);
    expect(opened.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
  });

  test('a request that is no HTTP leaves the server alive', async () => {
    const server = await serving(lone());
    const socket = tcp(server.port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write('GET /v1 HTTP/9.9\r\n\u0000\u0001nonsense\r\n\r\n');
    await new Promise((resolve) => socket.on('close', resolve).resume());
    expect((await client(server)).agents).toHaveLength(1);
  });

  test('WS-71 health, readiness and metrics are plain HTTP', async () => {
    const server = await serving(lone());
    const base = server.url.replace('ws', 'http').replace('/v1', '');
    expect(await (await fetch(`${base}/healthz`)).text()).toBe('ok\n');
    expect((await fetch(`${base}/readyz`)).status).toBe(200);
    expect(await (await fetch(`${base}/metrics`)).text()).toContain('coxswain_connections 0');
    expect((await fetch(`${base}/metrics`, { headers: { origin: EVIL } })).status).toBe(403);
    expect((await fetch(`${base}/else`)).status).toBe(404);
  });
});
