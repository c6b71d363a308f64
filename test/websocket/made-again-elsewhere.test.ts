import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { openSqlite } from '../../src/adapters/stores/sql/open-sqlite.ts';
import type { AgentSource } from '../../src/contracts/index.ts';
import { createHost } from '../../src/index.ts';
import { lyingExecutor } from '../../src/testing/index.ts';
import { bot, endOf, hostOf, notingTool, only, policyOf, say } from '../host/kit.ts';
import { fronting, get, post } from '../http/kit.ts';
import { all, client, metric, serving } from './kit.ts';
import { Raw } from './raw.ts';

const script = [[{ calls: [['pay'] as [string]] }], Array(8).fill('paid')].flat();

/** Two servers over one database, as two processes have it; a turn on each asks first. */
async function two(limits: { idleMs?: number } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-again-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const one = async () => {
    const store = openSqlite(join(folder, 'shop.db'));
    onTestFinished(() => store.close());
    const { tool, runs } = notingTool('pay');
    const { host } = hostOf(bot(script), { store, tools: [tool], policy: policyOf({ pay: 'ask' }) });
    return { host, runs, server: await serving(host, { limits }) };
  };
  return [await one(), await one()] as const;
}

describe('ATK5-04 a session that is deleted on one server and made again, where another one still has the old one', () => {
  test.each(['a client is attached', 'its client has left'])('is what whoever opens it is given: %s', async (how) => {
    const [first, second] = await two();
    const anna = await client(first.server);
    await all((await anna.open('bot', { sessionId: 's', create: true })).stream('old'));
    if (how === 'its client has left') await anna.close();
    const elsewhere = await client(second.server);
    await elsewhere.sessions('bot').delete('s');
    const made = await elsewhere.open('bot', { sessionId: 's', create: true });
    await all(made.stream('new'));
    const { requestId } = await only(made);
    const back = await client(first.server);
    for (const _ of [1, 2]) {
      const session = await back.open('bot', { sessionId: 's' });
      expect((await session.pending()).map((request) => request.requestId)).toEqual([requestId]);
      expect(JSON.stringify(await all(session.events()))).not.toContain('old');
    }
    expect((await back.approvals.list()).map(({ request }) => request.requestId)).toEqual([requestId]);
    await back.approvals.decide(requestId, { kind: 'approve' });
    await expect.poll(() => first.runs.length + second.runs.length).toBe(1);
  });

  test('over the connection that has the old one, too', async () => {
    const [first, second] = await two();
    const raw = await Raw.ready(first.server.url);
    await raw.ask('session/open', { agent: 'bot', sessionId: 's', create: true });
    const elsewhere = await client(second.server);
    await elsewhere.sessions('bot').delete('s');
    const { requestId } = await (async () => {
      const made = await elsewhere.open('bot', { sessionId: 's', create: true });
      await all(made.stream('new'));
      return only(made);
    })();
    const { epoch } = await raw.ask('session/open', { agent: 'bot', sessionId: 's' });
    const { pending } = await raw.ask('session/pending', { sessionId: 's' });
    expect([typeof epoch, pending]).toEqual(['string', [expect.objectContaining({ requestId })]]);
  });

  test('one that is not made again is not there any more; create makes it', async () => {
    const [first, second] = await two();
    const anna = await client(first.server);
    await all((await anna.open('bot', { sessionId: 's', create: true })).stream('old'));
    await (await client(second.server)).sessions('bot').delete('s');
    const back = await client(first.server);
    await expect(back.open('bot', { sessionId: 's' })).rejects.toMatchObject({ code: 'E_SESSION_NOT_FOUND' });
    const made = await back.open('bot', { sessionId: 's', create: true });
    expect(endOf(await all(made.stream('new'))).reason).toBe('completed');
    expect(JSON.stringify(await all(made.events()))).not.toContain('old');
  });

  test('a host that holds a handle of the old one lists and decides what the new one asks', async () => {
    const [first, second] = await two();
    const held = await first.host.open('bot', { sessionId: 's', create: true });
    await say(held, 'old');
    await second.host.sessions().delete('s');
    const made = await second.host.open('bot', { sessionId: 's', create: true });
    await say(made, 'new');
    const { requestId } = await only(made);
    await expect
      .poll(async () => (await first.host.approvals.list()).map(({ request }) => request.requestId))
      .toEqual([requestId]);
    await first.host.approvals.decide(requestId, { kind: 'approve' }, { by: { id: 'local' } });
    await first.host.idle();
    expect([first.runs.length, second.runs.length]).toEqual([1, 0]);
    await held[Symbol.asyncDispose]();
    // What the new one has here is not given up with it.
    expect(endOf(await say(await first.host.open('bot', { sessionId: 's' }), 'more')).reason).toBe('completed');
  });
});

describe('ATK5-08 what was sent under a key to a session that was deleted since', () => {
  test.each(['by the program that serves it', 'by another process'])(
    'is sent to the new one: deleted %s',
    async (how) => {
      const [first, second] = await two();
      const front = await fronting(first.host);
      const sessions = '/v1/agents/bot/sessions';
      const key = (value: string) => ({ headers: { 'idempotency-key': value } });
      const words = async () => {
        const { body } = await get(front, `${sessions}/s/events`);
        return JSON.stringify(body).match(/"text":"hello"/g)?.length ?? 0;
      };
      await post(front, sessions, { sessionId: 's', create: true });
      const message = () => post(front, `${sessions}/s/messages`, { input: 'hello' }, key('m-1'));
      expect((await message()).body).not.toHaveProperty('duplicate');
      await expect.poll(words).toBe(1);
      // Done once for its key, in each of them.
      expect((await message()).status).toBe(202);
      const deleting = how.endsWith('process') ? second.host : first.host;
      await vi.waitFor(() => deleting.sessions('anna').delete('s'));
      await post(front, sessions, { sessionId: 's', create: true });
      expect(await words()).toBe(0);
      expect((await message()).body).not.toHaveProperty('duplicate');
      await expect.poll(words).toBe(1);
      expect((await message()).status).toBe(202);
      expect(await words()).toBe(1);
    },
  );
});

describe('ATK5-15 an executor that says itself which session it opens', () => {
  const naming = (): AgentSource => {
    const inner = lyingExecutor({ name: 'own', calls: [] });
    return { ...inner, open: (ref, context) => inner.open({ ...ref, sessionId: 'main', create: true }, context) };
  };

  test('has one controller of it, and what one client does is shown to the other', async () => {
    const server = await serving(createHost({ app: 'shop', agents: [naming()] }));
    const [one, other] = [await Raw.ready(server.url), await Raw.ready(server.url)];
    const first = await one.ask('session/open', { agent: 'own' });
    const second = await other.ask('session/open', { agent: 'own' });
    expect([second.sessionId, second.epoch]).toEqual([first.sessionId, first.epoch]);
    expect([first, second].filter(({ fencingToken }) => fencingToken !== undefined)).toHaveLength(1);
  });

  test('takes one place of its principal, and gives it back', async () => {
    const server = await serving(createHost({ app: 'shop', agents: [naming()] }), {
      limits: { idleMs: 1, maxSessionsPerPrincipal: 2 },
    });
    for (let n = 0; n < 6; n++) {
      const raws = await Promise.all([Raw.ready(server.url), Raw.ready(server.url)]);
      for (const raw of raws) expect((await raw.ask('session/open', { agent: 'own' })).sessionId).toBe('main');
      for (const raw of raws) raw.ws.close();
      await Promise.all(raws.map(({ closed }) => closed));
      await expect.poll(() => metric(server, 'coxswain_sessions_open')).toBe(0);
    }
  });
});
