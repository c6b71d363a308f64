import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serveMcpHttp } from '../../src/host/mcp/index.ts';
import type { AgentSource } from '../../src/index.ts';
import { fromAgent } from '../../src/index.ts';
import { refusal } from '../host/kit.ts';
import { puppet } from './agents.ts';
import { connect, textOf } from './clients.ts';
import type { Shop } from './kit.ts';
import { openShop } from './kit.ts';
import { initialize, list, opened, send } from './raw-client.ts';

describe('who may call', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop();
  });
  afterAll(() => shop[Symbol.asyncDispose]());

  test('a target that is no address is not found, and the server lives', async () => {
    for (const target of ['//', '///x', '/mcp//', 'http://']) {
      const status = await new Promise((resolve, reject) => {
        const { hostname, port } = new URL(shop.url);
        const sent = httpRequest({ hostname, port, path: target }, (response) => {
          response.resume().on('end', () => resolve(response.statusCode));
        });
        sent.on('error', reject).end();
      });
      expect([target, status]).toEqual([target, 404]);
    }
    expect((await send(shop.url, { body: initialize })).status).toBe(200);
  });

  test('a connection over which nobody asks is kept for longer than a proxy keeps its own, 60 seconds', async () => {
    expect((await fetch(shop.url)).headers.get('keep-alive')).toBe('timeout=65');
  });

  test.each([
    [{ origin: 'https://evil.test' }, 403],
    [{ origin: 'null' }, 403],
    [{ host: 'rebound.evil.test' }, 403],
    [{ host: 'localhost.evil.test:80', origin: 'http://localhost' }, 403],
    [{ origin: 'http://localhost:3000' }, 200],
    [{ host: 'localhost:1234' }, 200],
    [{}, 200],
  ] as [Record<string, string>, number][])('Origin and Host: %j is answered %d', async (headers, status) => {
    expect((await send(shop.url, { body: initialize, headers })).status).toBe(status);
    // Nothing of a refused page reaches the 2026 leg either.
    const modern = { ...headers, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' };
    const answer = await send(shop.url, { body: list, headers: modern });
    if (status === 403) expect(answer.status).toBe(403);
    else expect(answer.status).not.toBe(403);
  });

  test('F40: an unknown session is 404, a missing one 400, initialize makes a new one', async () => {
    const unknown = { 'mcp-session-id': 'of-yesterday' };
    for (const method of ['POST', 'GET', 'DELETE']) {
      const body = method === 'POST' ? { body: list } : {};
      expect((await send(shop.url, { method, headers: unknown, ...body })).status, method).toBe(404);
      expect((await send(shop.url, { method, ...body })).status, method).toBe(400);
    }
    const headers = await opened(shop.url);
    const answer = await send(shop.url, { headers, body: list });
    expect(answer.status).toBe(200);
    expect(answer.text).toContain('puppet');
    expect((await send(shop.url, { method: 'DELETE', headers })).status).toBe(200);
    expect((await send(shop.url, { headers, body: list })).status).toBe(404);
    expect((await send(shop.url, { method: 'GET', headers })).status).toBe(404);
    expect(await opened(shop.url)).not.toEqual(headers);
  });

  test('what is no message is answered as such', async () => {
    expect((await send(shop.url, { body: '{' })).status).toBe(400);
    expect((await send(shop.url, { body: initialize, headers: { 'content-type': 'text/plain' } })).status).toBe(415);
    expect((await send(shop.url, { body: 'x'.repeat(5 * 1024 * 1024) })).status).toBe(413);
    expect((await send(shop.url.replace('/mcp', '/other'), { body: initialize })).status).toBe(404);
  });
});

test('F40: a client whose session is gone begins a new one; its conversation is still there', async () => {
  const shop = await openShop();
  const port = Number(new URL(shop.url).port);
  const first = await connect('v2-2025', { url: shop.url });
  const said = await first.call('puppet', { prompt: 'count' });
  await shop[Symbol.asyncDispose]();
  await using again = await openShop({ mcp: { port }, store: shop.store });
  // The first try may meet the socket that the old server has closed.
  const word = () => first.call('puppet', { prompt: 'count' }).then(textOf, (error: Error) => error.message);
  await expect.poll(word).toContain('Session not found');
  await using second = await connect('v2-2025', { url: again.url });
  const session_id = said._meta?.['coxswain/sessionId'];
  expect(textOf(await second.call('puppet', { prompt: 'count', session_id }))).toBe('2 said');
});

test('sessions and conversations belong to who opened them', async () => {
  const authenticate = (request: Request) => {
    const id = /^Bearer (\w+)$/.exec(request.headers.get('authorization') ?? '')?.[1];
    return id === undefined ? undefined : { id };
  };
  await using shop = await openShop({ mcp: { authenticate } });
  expect((await send(shop.url, { body: initialize })).status).toBe(401);
  const anna = { authorization: 'Bearer anna' };
  const { session = '' } = await send(shop.url, { body: initialize, headers: anna });
  const headers = { 'mcp-session-id': session };
  expect((await send(shop.url, { headers: { ...headers, ...anna }, body: list })).status).toBe(200);
  expect((await send(shop.url, { headers: { ...headers, authorization: 'Bearer ben' }, body: list })).status).toBe(404);
  await using mine = await connect('v1', { url: shop.url, token: 'anna' });
  const said = await mine.call('puppet', { prompt: 'count' });
  await using others = await connect('v2', { url: shop.url, token: 'ben' });
  const session_id = said._meta?.['coxswain/sessionId'];
  const stolen = await others.call('puppet', { prompt: 'count', session_id });
  expect(stolen.isError).toBe(true);
  expect(textOf(stolen)).toContain('E_SESSION_NOT_FOUND');
});

test('sessions are bounded: the idlest makes room', async () => {
  await using shop = await openShop({ mcp: { maxSessions: 2 } });
  const one = await opened(shop.url);
  const two = await opened(shop.url);
  expect((await send(shop.url, { headers: one, body: list })).status).toBe(200);
  const three = await opened(shop.url);
  expect((await send(shop.url, { headers: two, body: list })).status).toBe(404);
  expect((await send(shop.url, { headers: one, body: list })).status).toBe(200);
  expect((await send(shop.url, { headers: three, body: list })).status).toBe(200);
});

test('an authenticator that breaks lets nobody in, and is told to the host alone', async () => {
  const authenticate = () => {
    throw new Error('the directory says hush');
  };
  await using shop = await openShop({ mcp: { authenticate } });
  const { status, text } = await send(shop.url, { body: initialize });
  expect({ status, text }).toEqual({ status: 500, text: expect.not.stringContaining('hush') });
  expect(shop.warnings).toEqual(['an MCP client could not be authenticated']);
});

test('an authenticator that names nobody lets nobody in: without an id all would be one user', async () => {
  await using shop = await openShop({ mcp: { authenticate: () => ({ sub: 'anna' }) as never } });
  expect((await send(shop.url, { body: initialize })).status).toBe(500);
  expect(shop.warnings).toEqual([expect.stringContaining('id')]);
});

test('what breaks inside the host is told to the host alone', async () => {
  const source = fromAgent(puppet());
  const broken: AgentSource = {
    ...source,
    descriptor: source.descriptor,
    open() {
      throw new Error('no connection to postgres://shop:hush@db');
    },
  };
  await using shop = await openShop({ agents: [broken] });
  await using client = await connect('v1', { url: shop.url });
  const result = await client.call('puppet', { prompt: 'say hello' });
  expect(result.isError).toBe(true);
  expect(textOf(result)).toBe('E_INTERNAL: the host could not continue');
  expect(shop.warnings).toContain('a call of puppet failed');
});

test('a port that is taken is told as such', async () => {
  await using shop = await openShop();
  const port = Number(new URL(shop.url).port);
  expect(await refusal(serveMcpHttp(shop.host, { port }))).toMatchObject({
    code: 'E_USAGE',
    message: expect.stringContaining(`port ${port}: listen EADDRINUSE`),
  });
});

test('without authentication nobody else is listened to', async () => {
  await using shop = await openShop();
  expect(await refusal(serveMcpHttp(shop.host, { hostname: '0.0.0.0' }))).toMatchObject({ code: 'E_USAGE' });
});
