import { request as httpRequest } from 'node:http';
import { expect, test, vi } from 'vitest';
import { Strangers } from '../../src/host/mcp/server/strangers.ts';
import { connect, kinds } from './clients.ts';
import { openShop } from './kit.ts';
import { initialize, list, opened, send } from './raw-client.ts';

const authenticate = (request: Request) => {
  const id = /^Bearer (\w+)$/.exec(request.headers.get('authorization') ?? '')?.[1];
  return id === undefined ? undefined : { id };
};
const as = (name: string) => ({ authorization: `Bearer ${name}` });

test('HUNT-P5 initialize begins a session though the id of one that is gone, or of somebody else, comes with it', async () => {
  await using shop = await openShop({ mcp: { authenticate } });
  const own = await opened(shop.url, as('anna'));
  for (const id of ['of-yesterday', own['mcp-session-id']]) {
    const headers = { ...as('ben'), 'mcp-session-id': id ?? '' };
    const { status, session } = await send(shop.url, { headers, body: initialize });
    expect([id, status]).toEqual([id, 200]);
    expect(session).not.toBe(id);
    // Anything else of it is still 404.
    expect((await send(shop.url, { headers, body: list })).status).toBe(404);
  }
  expect((await send(shop.url, { headers: own, body: list })).status).toBe(200);
});

test.each([
  ['*/*', 200],
  ['application/*, text/*', 200],
  ['text/html, */*;q=0.1', 200],
  ['APPLICATION/JSON, text/event-stream', 200],
  ['application/json', 406],
  ['text/event-stream;q=0, */*', 406],
  ['text/html', 406],
])('HUNT-P5 Accept %s is answered %d', async (accept, status) => {
  await using shop = await openShop();
  expect((await send(shop.url, { body: initialize, headers: { accept } })).status).toBe(status);
});

test('HUNT-P5 sibling: no Accept takes anything, and a wildcard opens the stream of a session', async () => {
  await using shop = await openShop();
  const plain = await fetch(shop.url, {
    method: 'POST',
    body: JSON.stringify(initialize),
    headers: { 'content-type': 'application/json' },
  });
  expect(plain.status).toBe(200);
  await plain.body?.cancel();
  const controller = new AbortController();
  const headers = { ...(await opened(shop.url)), accept: '*/*' };
  const stream = await fetch(shop.url, { headers, signal: controller.signal });
  expect(stream.status).toBe(200);
  controller.abort();
});

test('HUNT-P5 what strangers send is told in one line, however much it is', async () => {
  await using shop = await openShop();
  const headers = await opened(shop.url);
  for (let n = 0; n < 5; n += 1) {
    expect((await send(shop.url, { body: '{', headers })).status).toBe(400);
    const version = { ...headers, 'mcp-protocol-version': '1999-01-01' };
    expect((await send(shop.url, { body: list, headers: version })).status).toBe(400);
  }
  expect(shop.warnings).toEqual([expect.stringMatching(/^an MCP client sent what cannot be answered: [^\n]+$/)]);
});

test('HUNT-P5 sibling: a minute later it is told again, with how many there were', () => {
  const told: string[] = [];
  const strangers = new Strangers((text) => told.push(text));
  for (const now of [0, 1, 59_999, 60_000]) strangers.note(`a\nb${now}`, now);
  expect(told).toEqual([
    'an MCP client sent what cannot be answered: a b0',
    'an MCP client sent what cannot be answered: a b60000 (and 2 more since the last word of it)',
  ]);
});

test('EDGE-S1 an answer that comes too late is told of, and what a person has answered is not', async () => {
  await using shop = await openShop();
  const headers = await opened(shop.url);
  const late = { jsonrpc: '2.0', id: 77, result: { action: 'accept', content: { pin: 'hush-hush' } } };
  expect((await send(shop.url, { body: JSON.stringify(late), headers })).status).toBe(202);
  expect(shop.warnings).toEqual([
    'an MCP client sent what cannot be answered: Received a response for an unknown message ID: …',
  ]);
});

test('EDGE-S1 sibling: nor what could not be read, nor what a terminal would obey', () => {
  const told: string[] = [];
  new Strangers((text) => told.push(text)).note(`no\u001b[2Jmessage: "hush" is not valid JSON`);
  new Strangers((text) => told.push(text)).note(`no\u0007 message\u202e: "hush" is not valid JSON`);
  expect(told).toEqual([
    'an MCP client sent what cannot be answered: no …',
    'an MCP client sent what cannot be answered: no message : …',
  ]);
});

test.each(kinds)('IOP-S7 the server says the version of this package, unless it is told one (%s)', async (kind) => {
  const { version } = (await import('../../package.json', { with: { type: 'json' } })).default;
  for (const [mcp, told] of [
    [{}, version],
    [{ version: '7.1' }, '7.1'],
  ] as const) {
    await using shop = await openShop({ mcp });
    await using client = await connect(kind, { url: shop.url });
    expect(client.serverInfo()).toMatchObject({ name: 'coxswain', version: told });
  }
});

test('ATT-B8 whoever takes every place makes room for itself alone', async () => {
  await using shop = await openShop({ mcp: { authenticate, maxSessions: 5 } });
  const anna = await opened(shop.url, as('anna'));
  const first = await opened(shop.url, as('ben'));
  for (let n = 0; n < 10; n += 1) await opened(shop.url, as('ben'));
  expect((await send(shop.url, { headers: anna, body: list })).status).toBe(200);
  expect((await send(shop.url, { headers: first, body: list })).status).toBe(404);
});

test('ATT-B8 sibling: places that somebody only listens in are given to those who have fewer', async () => {
  await using shop = await openShop({ mcp: { authenticate, maxSessions: 4 } });
  const controller = new AbortController();
  for (let n = 0; n < 4; n += 1) {
    const { status } = await fetch(shop.url, {
      headers: { ...(await opened(shop.url, as('ben'))), accept: 'text/event-stream' },
      signal: controller.signal,
    });
    expect(status).toBe(200);
  }
  // All places are listened in: there is none for one more of the same.
  expect((await send(shop.url, { headers: as('ben'), body: initialize })).status).toBe(503);
  const anna = await opened(shop.url, as('anna'));
  expect((await send(shop.url, { headers: anna, body: list })).status).toBe(200);
  expect((await send(shop.url, { headers: as('ben'), body: initialize })).status).toBe(503);
  controller.abort();
});

/** A body that is announced and does not come. */
function begun(url: string, headers: Record<string, string>) {
  const sent = httpRequest(url, {
    method: 'POST',
    headers: { accept: '*/*', 'content-type': 'application/json', 'content-length': '1000', ...headers },
  });
  const status = new Promise<number>((resolve, reject) => {
    sent.on('response', (response) => resolve(response.resume().statusCode ?? 0));
    sent.on('error', reject);
  });
  sent.flushHeaders();
  return { status, end: () => sent.destroy() };
}

test('ATT-B8 nothing of a body is waited for from whoever is not let in', async () => {
  await using shop = await openShop({ mcp: { authenticate } });
  expect(await begun(shop.url, {}).status).toBe(401);
  expect(await begun(shop.url, { ...as('ben'), origin: 'https://evil.test' }).status).toBe(403);
});

test('ATT-B8 sibling: bodies that do not come hold up their own principal, and nobody else', async () => {
  await using shop = await openShop({ mcp: { authenticate } });
  const held = Array.from({ length: 16 }, () => begun(shop.url, as('ben')));
  for (const { status } of held) status.catch(() => {});
  let isAnswered = false;
  const ben = send(shop.url, { headers: as('ben'), body: initialize }).then(({ status }) => {
    isAnswered = true;
    return status;
  });
  // Those of others go by, more than one after another.
  for (let n = 0; n < 3; n += 1) {
    expect((await send(shop.url, { headers: as('anna'), body: initialize })).status).toBe(200);
  }
  expect(isAnswered).toBe(false);
  for (const { end } of held) end();
  expect(await ben).toBe(200);
});

test('ATT-B8 sibling: those who wait for their turn are bounded, and give their place back when they go', async () => {
  await using shop = await openShop({ mcp: { authenticate } });
  // Sixteen are read, 256 wait, and the last is one too many, whichever that is.
  const held = Array.from({ length: 16 + 256 + 1 }, () => begun(shop.url, as('ben')));
  expect(await Promise.any(held.map(async ({ status }) => status))).toBe(429);
  expect((await send(shop.url, { headers: as('anna'), body: initialize })).status).toBe(200);
  for (const { end, status } of held) {
    status.catch(() => {});
    end();
  }
  await vi.waitFor(async () =>
    expect((await send(shop.url, { headers: as('ben'), body: initialize })).status).toBe(200),
  );
});
