import { once } from 'node:events';
import { createServer, request as nodeRequest } from 'node:http';
import { describe, expect, test } from 'vitest';
import { createHttp } from '../../src/host/http/index.ts';
import { serve } from '../../src/host/websocket/index.ts';
import { bot, hostOf, policyOf, slowTool } from '../host/kit.ts';
import { byName, client, serving } from '../websocket/kit.ts';
import type { Front } from './kit.ts';
import { EventReader, fronting, get, isEnd, post } from './kit.ts';

const S = '/v1/agents/bot/sessions/s';
const open = (front: { url: string }) => post(front, '/v1/agents/bot/sessions', { sessionId: 's', create: true });
const lone = () => hostOf(bot(['x', 'x', 'x'])).host;

/** A request as a browser or an attacker makes it: any header. */
function raw(front: Front, method: string, path: string, headers: Record<string, string>, body = '') {
  return new Promise<{ status: number; headers: Record<string, unknown>; body: string }>((resolve, reject) => {
    const made = nodeRequest(front.url + path, { method, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }));
    });
    made.on('error', reject);
    made.end(body);
  });
}

const anna = { authorization: 'Bearer anna' };
const json = { ...anna, 'content-type': 'application/json' };

describe('who may ask', () => {
  test('HTTP-2 no credentials, wrong ones, and an authenticator that breaks', async () => {
    const warnings: string[] = [];
    const front = await fronting(lone(), {
      authenticate: (request) => {
        if (request.headers.cookie === 'session=anna') return { id: 'anna' };
        if (request.token === 'broken') throw new Error('secret');
        if (request.token === 'nobody') return { id: '' };
        return byName(request);
      },
      warn: (message) => warnings.push(message),
    });
    const none = await get(front, '/v1/agents', { token: '' });
    expect([none.status, none.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    expect(none.body).toMatchObject({
      error: { code: 'E_UNAUTHENTICATED', status: 'UNAUTHENTICATED', retryable: false },
    });
    expect((await get(front, '/v1/agents', { token: 'wrong' })).status).toBe(401);
    expect((await get(front, '/v1/agents', { token: '', headers: { cookie: 'session=anna' } })).status).toBe(200);
    for (const token of ['broken', 'nobody']) {
      const broken = await get(front, '/v1/agents', { token });
      expect([broken.status, broken.headers.get('retry-after')]).toEqual([503, '1']);
      expect(JSON.stringify(broken.body)).not.toContain('secret');
    }
    expect(warnings).toHaveLength(2);
    expect(warnings.join()).not.toContain('secret');
  });

  test('HTTP-3 nothing but what the path takes stands in a query, and nothing else of it is repeated', async () => {
    const front = await fronting(lone());
    await open(front);
    for (const query of ['?token=anna', '?access_token=secret1', '?secret1', '?after=1.0&after=2.0']) {
      const refused = await get(front, `${S}/events${query}`);
      expect([query, refused.status]).toEqual([query, 400]);
      expect(JSON.stringify(refused.body)).not.toContain('secret1');
      expect(JSON.stringify(refused.body)).toContain('Authorization');
    }
    expect((await get(front, '/v1/agents?token=anna', { token: '' })).status).toBe(400);
    expect((await get(front, `${S}/events?limit=1e3`)).status).toBe(400);
    expect((await EventReader.open(`${front.url}${S}/events?history=maybe`)).response.status).toBe(400);
  });

  test('HTTP-4 HTTP-5 a page of another origin changes nothing: its Origin, its content type', async () => {
    const { host } = hostOf(bot(['x']));
    const front = await fronting(host, { allowedOrigins: ['https://app.example'], allowedHosts: ['127.0.0.1'] });
    await open(front);
    const evil = { ...json, origin: 'https://evil.example' };
    expect((await raw(front, 'POST', `${S}/messages`, evil, '{"input":"x"}')).status).toBe(403);
    expect((await raw(front, 'GET', `${S}/events`, { ...anna, origin: 'null' })).status).toBe(403);
    expect((await raw(front, 'GET', `${S}/events`, { ...anna, host: 'rebound.example' })).status).toBe(403);
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data',
      'text/plain;application/json',
      '',
    ]) {
      const headers = { ...anna, ...(type === '' ? {} : { 'content-type': type }) };
      expect((await raw(front, 'POST', `${S}/messages`, headers, '{"input":"x"}')).status).toBe(415);
    }
    expect((await raw(front, 'DELETE', S, anna)).status).toBe(415);
    expect((await get(front, `${S}/events`)).body).toEqual({ events: [], more: false });
    const ours = { ...json, origin: 'https://app.example', 'content-type': 'application/json; charset=utf-8' };
    const sent = await raw(front, 'POST', `${S}/messages`, ours, '{"input":"x"}');
    expect([sent.status, sent.headers['access-control-allow-origin']]).toEqual([202, undefined]);
  });

  test('HTTP-4 pages of other origins read answers where CORS is on, those that are named', async () => {
    const front = await fronting(lone(), { allowedOrigins: ['https://app.example'], cors: { credentials: true } });
    const page = { origin: 'https://app.example' };
    const asked = await raw(front, 'OPTIONS', `${S}/messages`, { ...page, 'access-control-request-method': 'POST' });
    expect(asked).toMatchObject({
      status: 204,
      headers: {
        'access-control-allow-origin': 'https://app.example',
        'access-control-allow-credentials': 'true',
        'access-control-allow-methods': 'POST',
        'access-control-allow-headers': expect.stringContaining('idempotency-key'),
        vary: 'Origin',
      },
    });
    const refused = await raw(front, 'GET', '/v1/agents', page);
    expect([refused.status, refused.headers['access-control-allow-origin']]).toEqual([401, 'https://app.example']);
    const evil = await raw(front, 'OPTIONS', `${S}/messages`, { origin: 'https://evil.example' });
    expect([evil.status, evil.headers['access-control-allow-origin']]).toEqual([403, undefined]);
    const closed = await fronting(lone(), { allowedOrigins: ['https://app.example'] });
    const silent = await raw(closed, 'OPTIONS', `${S}/messages`, page);
    expect([silent.status, silent.headers['access-control-allow-methods']]).toEqual([204, undefined]);
  });

  test('HTTP-16 requests a second and event streams of one principal are bounded', async () => {
    const { host } = hostOf(bot(['x']));
    const front = await fronting(host, { limits: { maxConnectionsPerPrincipal: 2, maxConnections: 3 } });
    await open(front);
    const streams = await Promise.all([1, 2].map(() => EventReader.open(`${front.url}${S}/events`)));
    const third = await EventReader.open(`${front.url}${S}/events`);
    expect(third.response.status).toBe(429);
    const bert = [1, 2].map(() => EventReader.open(`${front.url}/v1/approvals`, { token: 'bert' }));
    expect((await Promise.all(bert)).map(({ response }) => response.status).sort()).toEqual([200, 503]);
    streams[0]?.close();
    await expect.poll(async () => (await EventReader.open(`${front.url}${S}/events`)).response.status).toBe(200);
    const fast = await fronting(lone(), { limits: { messagesPerSecond: 1 } });
    const statuses = [];
    for (let n = 0; n < 8; n++) statuses.push((await get(fast, '/v1/agents')).status);
    expect(statuses).toContain(429);
    expect((await get(fast, '/v1/agents', { token: 'bert' })).status).toBe(200);
  });

  test('HTTP-17 an event stream ends with the credentials that opened it', async () => {
    const front = await fronting(lone(), {
      authenticate: ({ token }) => ({
        principal: { id: token ?? '' },
        expiresAt: Date.now() + (token === 'anna' ? 400 : 60_000),
      }),
    });
    await open(front);
    const reader = await EventReader.open(`${front.url}${S}/events`);
    const sent = await reader.all();
    expect(sent.at(-1)).toMatchObject({ event: 'reconnect', data: '{"reason":"credentials expired"}' });
  });
});

describe('what a request may be', () => {
  test('HTTP-1 paths that are none, methods that a path does not take, and segments that are no text', async () => {
    const front = await fronting(lone(), { basePath: '/api/agents' });
    const none = await get(front, '/v1/agents');
    expect([none.status, none.body]).toMatchObject([404, { error: { code: 'E_PROTOCOL' } }]);
    expect((await get(front, '/api/agents/v1/agents')).status).toBe(200);
    const wrong = await raw(front, 'DELETE', '/api/agents/v1/agents', json);
    expect([wrong.status, wrong.headers.allow]).toEqual([405, 'GET']);
    expect((await get(front, '/api/agents/v1/agents/%ff/sessions/s')).status).toBe(400);
    expect((await get(front, '/api/agents/v1/agents/bot/sessions/..%2Fs/pending')).status).toBe(400);
    expect((await post(front, '/api/agents/v1/agents/nobody/sessions')).status).toBe(404);
    expect(() => createHttp(lone(), { authenticate: byName, basePath: 'x/' })).toThrow('basePath');
    expect(() => createHttp(lone(), {} as never)).toThrow('authenticate');
  });

  test('HTTP-6 a body has a size, a depth and a shape', async () => {
    const front = await fronting(lone(), { limits: { maxPayload: 70_000 } });
    await open(front);
    const big = JSON.stringify({ input: 'x'.repeat(80_000) });
    const large = await raw(front, 'POST', `${S}/messages`, json, big);
    expect([large.status, JSON.parse(large.body)]).toMatchObject([413, { error: { code: 'E_TOO_LARGE' } }]);
    // Without a length, it is counted.
    const pieces = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.enqueue(new Uint8Array(10_000).fill(0x20));
      },
    });
    const asked = { method: 'POST', headers: json, body: pieces, duplex: 'half' };
    const request = new Request(`${front.url}${S}/messages`, asked as RequestInit);
    expect((await front.handler(request)).status).toBe(413);
    const bodies = [
      '[',
      '[]',
      '"x"',
      '{"__proto__":{"a":1}}',
      `{"input":${'['.repeat(300)}${']'.repeat(300)}}`,
      '{"input":7}',
      '{}',
    ];
    const statuses = await Promise.all(bodies.map((body) => post(front, `${S}/messages`, body)));
    expect(statuses.map(({ status }) => status)).toEqual(bodies.map(() => 400));
    expect(
      (await post(front, `${S}/messages`, { input: 'x' }, { headers: { 'idempotency-key': 'k'.repeat(300) } })).status,
    ).toBe(400);
    expect((await get(front, `${S}/events?after=9.9`)).status).toBe(400);
    expect((await EventReader.open(`${front.url}${S}/events`, { lastId: 'nonsense' })).response.status).toBe(400);
  });
});

describe('event streams', () => {
  test('HTTP-14 are not cached, changed or held back, and are kept alive while nothing happens', async () => {
    const front = await fronting(lone(), { limits: { heartbeatMs: 20 } });
    await open(front);
    const reader = await EventReader.open(`${front.url}${S}/events`);
    expect(Object.fromEntries(reader.response.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
    });
    const reading = (async () => {
      for await (const { event } of reader) if (event === 'close') return;
    })().catch(() => {});
    await expect.poll(() => reader.comments).toBeGreaterThan(2);
    reader.close();
    await reading;
  });

  test('HTTP-18 a server that goes away begins nothing, and sends its readers on', async () => {
    const slow = slowTool('slow');
    const { host } = hostOf(bot([{ calls: [['slow', {}]] }, 'done']), { tools: [slow.tool], policy: policyOf({}) });
    const front = await fronting(host);
    await open(front);
    const reader = await EventReader.open(`${front.url}${S}/events`);
    const reading = reader.all();
    await post(front, `${S}/messages`, { input: 'go' });
    await slow.started;
    const closing = front.handler.close({ deadlineMs: 60_000 });
    const refused = await post(front, `${S}/messages`, { input: 'go' });
    expect([refused.status, refused.body]).toMatchObject([503, { error: { code: 'E_GOING_AWAY', retryable: true } }]);
    slow.finish('late');
    await closing;
    const sent = await reading;
    expect(sent.at(-1)).toMatchObject({ event: 'reconnect' });
    expect(sent.map(({ data }) => data).join()).toContain('"reason":"completed"');
  });

  test('HTTP-19 the OpenAPI document is served to anybody', async () => {
    const front = await fronting(lone(), { basePath: '/api' });
    const { status, body } = await get(front, '/api/openapi.json', { token: '' });
    expect([status, body]).toMatchObject([200, { openapi: '3.1.1', servers: [{ url: '/api' }] }]);
  });
});

describe('beside the sockets', () => {
  test('HTTP-21 serve answers both on one port, with the same token, and counts both', async () => {
    const { host } = hostOf(bot(['x']));
    const server = await serving(host, { http: true });
    const front = { url: server.url.replace('ws', 'http').replace('/v1', '') };
    await open(front);
    const reader = await EventReader.open(`${front.url}${S}/events`);
    expect(server.connections).toBe(1);
    reader.close();
    const own = await serve(hostOf(bot(['x'])).host, { http: true });
    const url = own.url.replace('ws', 'http').replace('/v1', '');
    expect((await get({ url }, '/v1/agents', { token: own.token ?? '' })).status).toBe(200);
    expect((await get({ url }, '/v1/agents', { token: 'x' })).status).toBe(401);
    await own.close({ deadlineMs: 0 });
    const plain = await serving(hostOf(bot(['x'])).host);
    expect((await fetch(`${plain.url.replace('ws', 'http')}/agents`)).status).toBe(404);
  });

  test('HTTP-21 a server of somebody else carries sockets below a path, and keeps the rest', async () => {
    const theirs = createServer((_request, response) => response.end('theirs'));
    const { host } = hostOf(bot(['hello']));
    const options = { server: theirs, basePath: '/agents', http: true, authenticate: byName };
    await expect(serve(host, { ...options, port: 1 })).rejects.toThrow('port');
    await expect(serve(host, { server: theirs })).rejects.toThrow('authenticate');
    const server = await serve(host, options);
    theirs.listen(0, '127.0.0.1');
    await once(theirs, 'listening');
    expect(server.url).toMatch(/^ws:\/\/127\.0\.0\.1:\d+\/agents\/v1$/);
    const session = await (await client(server)).open('bot', { sessionId: 's', create: true });
    for await (const event of session.stream('hi'))
      if (isEnd(event)) expect(event).toMatchObject({ reason: 'completed' });
    const base = server.url.replace('ws', 'http').replace('/agents/v1', '');
    expect(await (await fetch(`${base}/other`)).text()).toBe('theirs');
    const asked = new Request(`${base}/agents/v1/agents`, { headers: anna });
    expect((await server.fetch(asked)).status).toBe(200);
    await expect(client({ url: server.url.replace('/agents', '/other') })).rejects.toThrow();
    await server.close({ deadlineMs: 0 });
    expect(await (await fetch(`${base}/other`)).text()).toBe('theirs');
    await new Promise((resolve) => {
      theirs.close(resolve);
      theirs.closeAllConnections();
    });
    await host.close();
  });
});

test('HTTP-16 an event stream that is refused takes no place', async () => {
  const opened: string[] = [];
  const front = await fronting(hostOf(bot(['x'])).host, {
    authorize: (_who, method) => method !== 'approvals/watch',
    limits: { maxConnectionsPerPrincipal: 1 },
    log: ({ event }) => opened.push(event),
  });
  await open(front);
  for (let n = 0; n < 3; n++) {
    expect((await EventReader.open(`${front.url}/v1/approvals`)).response.status).toBe(403);
  }
  expect(opened.filter((event) => event === 'stream_closed')).toHaveLength(3);
  expect((await EventReader.open(`${front.url}${S}/events`)).response.status).toBe(200);
});

test('HTTP-7 a failure that is no refusal says nothing of itself', async () => {
  const { host } = hostOf(bot(['x']));
  const warnings: unknown[] = [];
  const front = await fronting(host, {
    authorize: () => {
      throw new Error('secret');
    },
    warn: (...said) => warnings.push(said),
  });
  const refused = await post(front, '/v1/agents/bot/sessions');
  expect([refused.status, JSON.stringify(refused.body).includes('secret')]).toEqual([403, false]);
  expect(warnings).toHaveLength(1);
});

describe('ATK2-17 a client that goes away holds no place', () => {
  const make = (gone: AbortController, when: 'early' | 'late') =>
    createHttp(lone(), {
      authenticate: (request) => {
        if (when === 'early' && request.headers['x-goes']) gone.abort();
        return byName(request);
      },
      limits: { maxConnectionsPerPrincipal: 1 },
    });
  const ask = (path: string, init: RequestInit = {}) =>
    new Request(`http://127.0.0.1${path}`, { ...init, headers: { ...json, ...(init.headers ?? {}) } });
  const events = { headers: { accept: 'text/event-stream' } };

  test.each([
    ['early', `${S}/events`],
    ['late', `${S}/events`],
    ['late', '/v1/approvals'],
  ] as const)('%s: as it is being known, or before it has read anything of %s', async (when, path) => {
    const gone = new AbortController();
    const handler = make(gone, when);
    const body = JSON.stringify({ sessionId: 's', create: true });
    expect((await handler(ask('/v1/agents/bot/sessions', { method: 'POST', body }))).status).toBe(200);
    const headers = { ...events.headers, 'x-goes': 'yes' };
    const answer = await handler(ask(path, { headers, signal: gone.signal }));
    expect(answer.status).toBe(when === 'late' ? 200 : 503);
    gone.abort();
    const next = await handler(ask(path, events));
    expect(next.status).toBe(200);
    await next.body?.cancel();
    await handler.close({ deadlineMs: 0 });
  });
});
