import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { KeyBook } from '../../src/host/connection/stream/index.ts';
import { createHost, fromAgent, InMemorySessionService } from '../../src/index.ts';
import { bot, hostOf, notingTool, policyOf } from '../host/kit.ts';
import { serving } from '../websocket/kit.ts';
import { endOf, Raw } from '../websocket/raw.ts';
import type { Front } from './kit.ts';
import { EventReader, fronting, get, isEnd, post, readUntil } from './kit.ts';

const SESSIONS = '/v1/agents/bot/sessions';
const S = `${SESSIONS}/s`;
/** Whoever opens a second session has the idle first one closed. */
const limits = { maxSessionsPerPrincipal: 1 };
const key = (name: string) => ({ headers: { 'idempotency-key': name } });

/** A host that pays at each message, over a store that outlives it. */
function paying() {
  const pay = notingTool('pay');
  const store = new InMemorySessionService();
  const make = () => {
    const script = Array.from({ length: 3 }, () => [{ calls: [['pay', {}]] }, 'paid']).flat();
    const policy = policyOf({ pay: 'allow' });
    return createHost({ app: 'shop', agents: [fromAgent(bot(script as never))], store, tools: [pay.tool], policy });
  };
  return { pay, make };
}

const ended = async (front: Front) => readUntil(await EventReader.open(`${front.url}${S}/events`), isEnd);
/** Refused until the first one is idle. */
const openOther = (front: Front) =>
  expect.poll(async () => (await post(front, SESSIONS, { sessionId: 'other', create: true })).status).toBe(200);

async function remove(front: Front, name: string): Promise<number> {
  const headers = {
    authorization: 'Bearer anna',
    'content-type': 'application/json',
    ...key(name).headers,
  };
  return (await fetch(front.url + S, { method: 'DELETE', headers })).status;
}

describe('one key, one effect', () => {
  test('ATK2-04 a message is taken once for its key, after its session was closed and after a restart', async () => {
    const { pay, make } = paying();
    const front = await fronting(make(), { limits });
    await post(front, SESSIONS, { sessionId: 's', create: true });
    const say = (to: Front, input = 'Pay.') => post(to, `${S}/messages`, { input }, key('m1'));
    expect((await say(front)).body).toEqual({ streamId: 'm1' });
    await ended(front);
    await openOther(front);
    expect((await say(front)).body).toEqual({ streamId: 'm1', duplicate: true });
    expect(await say(front, 'More.')).toMatchObject({
      status: 409,
      body: { error: { code: 'E_IDEMPOTENCY_CONFLICT' } },
    });
    await front.close();
    const next = await fronting(make());
    expect((await say(next)).body).toEqual({ streamId: 'm1', duplicate: true });
    const events = await EventReader.open(`${next.url}${S}/messages`, { body: { input: 'Pay.' }, ...key('m1') });
    expect((await readUntil(events, isEnd)).filter(isEnd)).toMatchObject([{ streamId: 'm1', reason: 'completed' }]);
    expect(pay.runs).toHaveLength(1);
    await readUntil(
      await EventReader.open(`${next.url}${S}/messages`, { body: { input: 'Pay.' }, ...key('m2') }),
      isEnd,
    );
    expect(pay.runs).toHaveLength(2);
  });

  test('ATK2-04 sibling: over a socket too, where the key is the client’s own', async () => {
    const { pay, make } = paying();
    const server = await serving(make(), { limits });
    const raw = await Raw.ready(server.url);
    const say = async () => {
      const { sessionId, fencingToken } = await raw.ask('session/open', { agent: 'bot', sessionId: 's', create: true });
      return raw.ask('session/stream', { sessionId, fencingToken, streamId: 'a', input: 'Pay.', key: 'k' });
    };
    expect(await say()).toEqual({ streamId: 'a' });
    await raw.until(endOf('a'));
    expect(await say()).toEqual({ streamId: 'a' });
    await raw.ask('session/close', { sessionId: 's' });
    await raw.ask('session/open', { agent: 'bot', sessionId: 'other', create: true });
    await raw.ask('session/close', { sessionId: 'other' });
    expect(await say()).toEqual({ streamId: 'a', duplicate: true });
    expect(pay.runs).toHaveLength(1);
  });

  test('ATK2-04 sibling: a message of a chat page is taken once, after a restart too', async () => {
    const { pay, make } = paying();
    const messages = [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Pay.' }] }];
    const send = async (front: Front) => {
      const body = JSON.stringify({ id: 's', messages });
      const headers = { authorization: 'Bearer anna', 'content-type': 'application/json' };
      return (await fetch(`${front.url}/v1/agents/bot/chat`, { method: 'POST', headers, body })).text();
    };
    const front = await fronting(make(), { limits });
    expect(await send(front)).toContain('paid');
    await openOther(front);
    expect(await send(front)).toContain('paid');
    await front.close();
    expect(await send(await fronting(make()))).toContain('paid');
    expect(pay.runs).toHaveLength(1);
  });

  test('ATK2-04 sibling: opening and deleting are done once for their key; of a session made anew nothing is remembered', async () => {
    const front = await fronting(hostOf(bot(['one', 'two'])).host);
    const open = async (body: object = {}) =>
      (await post(front, SESSIONS, body, key('o'))).body as { sessionId: string };
    const opened = await Promise.all([open(), open()]);
    expect(new Set([...opened, await open()].map(({ sessionId }) => sessionId)).size).toBe(1);
    expect(await post(front, SESSIONS, { sessionId: 's', create: true }, key('o'))).toMatchObject({ status: 409 });
    const make = () => post(front, SESSIONS, { sessionId: 's', create: true });
    await make();
    const say = () => post(front, `${S}/messages`, { input: 'hi' }, key('m'));
    await say();
    await ended(front);
    await expect.poll(() => remove(front, 'd')).toBe(200);
    await make();
    expect((await say()).body).toEqual({ streamId: 'm' });
    await ended(front);
    expect(await remove(front, 'd')).toBe(200);
    expect((await get(front, S)).status).toBe(200);
    await expect.poll(() => remove(front, 'd2')).toBe(200);
    expect((await get(front, S)).status).toBe(404);
  });

  test('ATK2-04 sibling: a decision that is sent again has its first answer, and no other person’s', async () => {
    const pay = notingTool('pay');
    const policy = policyOf({ pay: 'ask' });
    const { host } = hostOf(bot([{ calls: [['pay', {}]] }, 'paid']), { tools: [pay.tool], policy });
    const front = await fronting(host);
    await post(front, SESSIONS, { sessionId: 's', create: true });
    await readUntil(await EventReader.open(`${front.url}${S}/messages`, { body: { input: 'go' } }), isEnd);
    const [open] = await host.approvals.list();
    const body = { requestId: open?.request.requestId, answer: { kind: 'approve' } };
    const decide = (token: string) => post(front, '/v1/approvals/decide', body, { token, ...key('d') });
    const first = await decide('anna');
    expect(first).toMatchObject({ status: 200, body: { status: 'settled' } });
    await host.idle();
    expect(await decide('anna')).toMatchObject({ status: 200, body: first.body });
    expect((await decide('mallory')).status).not.toBe(200);
    expect(pay.runs).toHaveLength(1);
  });
});

describe('keys of a server', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('ATK2-04 those of one principal are bounded: those of the log go first, and all go in their time', async () => {
    const book = new KeyBook({ keyMs: 1000, maxKeys: 1 });
    let count = 0;
    const run = (userId: string, session: number, isInLog = false) =>
      book.run(userId, String(session), { key: 'k', body: 1, isInLog }, async () => ++count);
    for (let session = 0; session < 16; session++) await run('anna', session, session === 3);
    await run('anna', 16);
    expect([await run('bert', 0), count]).toEqual([18, 18]);
    await expect(run('anna', 17)).rejects.toMatchObject({ code: 'E_RATE_LIMIT' });
    vi.advanceTimersByTime(1001);
    expect(await run('anna', 17)).toBe(19);
    vi.advanceTimersByTime(3000);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('ATK2-04 what is forgotten, refused or asked again is not counted', async () => {
    const book = new KeyBook({ keyMs: 1000, maxKeys: 1 });
    const run = (session: number, act: () => Promise<unknown> = async () => 'done', key = 'k') =>
      book.run('anna', `s${session}/`, { key, body: 1, isInLog: false }, act);
    const full = { code: 'E_RATE_LIMIT' };
    for (let n = 0; n < 40; n++) await expect(run(0, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    for (let session = 0; session < 16; session++) await run(session);
    await expect(run(16)).rejects.toMatchObject(full);
    // A change of a session that is deleted meanwhile is no longer counted when it is answered.
    book.forget('anna', 's3/');
    const { promise, reject } = Promise.withResolvers<unknown>();
    const late = run(3, () => promise);
    await expect(run(16)).rejects.toMatchObject(full);
    book.forget('anna', 's3/');
    reject(new Error('gone'));
    await expect(late).rejects.toThrow('gone');
    expect(await run(16)).toBe('done');
    await expect(run(17)).rejects.toMatchObject(full);
    vi.advanceTimersByTime(1001);
    for (let session = 20; session < 36; session++) await run(session);
    await expect(run(36)).rejects.toMatchObject(full);
    book.close();
  });
});
