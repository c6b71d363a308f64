import { afterEach, describe, expect, test, vi } from 'vitest';
import type { PolicyEvaluator } from '../../src/contracts/index.ts';
import { CoxswainError } from '../../src/contracts/index.ts';
import { InMemorySessionService } from '../../src/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { elsewhere } from '../runtime/elsewhere.ts';
import { mortal } from '../runtime/kit.ts';
import {
  bot,
  endOf,
  follow,
  hostOf,
  notingTool,
  only,
  policyOf,
  refusal,
  results,
  say,
  slowTool,
  whole,
} from './kit.ts';

const paying = { calls: [['pay', {}]] } as const;
const s = { agent: 'bot', userId: 'local', sessionId: 's' };

/** A store, and a session in it whose process has died between the result of a tool and the next answer of the model. */
async function cutOff() {
  const store = new InMemorySessionService();
  const pay = notingTool('pay');
  const options = { tools: [pay.tool], policy: policyOf({}) };
  const spoke = mortal(store, (events) =>
    events.some(({ content }) => content?.role === 'model' && content.parts.some(({ type }) => type === 'text')),
  );
  const dead = hostOf(bot([paying, 'Mail is sent.']), { ...options, store: spoke });
  await say(await dead.host.open('bot', { sessionId: 's', create: true }), 'pay and mail').catch(() => {});
  return { store, pay, next: hostOf(bot(['Mail is sent.']), { ...options, store }) };
}

describe('a turn that nobody runs', () => {
  test('APP-B2 is listed over all users, and gone on with where asked', async () => {
    const { next, pay } = await cutOff();
    const { host } = next;
    expect(await host.approvals.list()).toEqual([]);
    expect((await host.sessions().list()).map(({ pending, unfinished }) => [pending, unfinished])).toEqual([[0, true]]);
    expect(await host.unfinished()).toEqual([s]);
    const { sessions, done } = await host.recover();
    expect(sessions).toEqual([s]);
    await done;
    expect(await host.unfinished()).toEqual([]);
    expect((await host.sessions().list()).map(({ unfinished }) => unfinished)).toEqual([false]);
    expect(await (await host.open('bot', { sessionId: 's' })).standing()).toMatchObject({ isOver: true });
    expect(pay.runs).toHaveLength(1);
    expect(next.warnings).toEqual([]);
  });

  test('APP-B2 abort() ends it, though nothing is open in it', async () => {
    const { next } = await cutOff();
    const session = await next.host.open('bot', { sessionId: 's' });
    await session.abort();
    expect(await session.standing()).toMatchObject({ isOver: true });
    expect(await next.host.unfinished()).toEqual([]);
  });

  test('APP-B2 one that waits for a person is none; one whose answer nobody has acted upon is', async () => {
    const store = new InMemorySessionService();
    const pay = notingTool('pay');
    const options = { tools: [pay.tool], policy: policyOf({ pay: 'ask' }), store };
    const { host } = hostOf(bot([paying]), options);
    const session = await host.open('bot', { sessionId: 's', create: true });
    await say(session, 'go');
    const next = hostOf(bot(['done']), options);
    expect(await next.host.unfinished()).toEqual([]);
    await session.respond((await only(session)).requestId, { kind: 'approve' });
    await session[Symbol.asyncDispose]();
    expect(await next.host.unfinished()).toEqual([s]);
    await (await next.host.recover()).done;
    expect(pay.runs).toHaveLength(1);
    expect(await next.host.unfinished()).toEqual([]);
  });

  test('APP-B2 one that another process runs is none', async () => {
    const store = new InMemorySessionService();
    const slow = slowTool('slow');
    const one = hostOf(bot([{ calls: [['slow', {}]] }, 'done'], { tools: [slow.tool] }), {
      store: elsewhere(store),
      policy: policyOf({}),
    });
    const going = follow(await one.host.open('bot', { sessionId: 's', create: true }), 'go');
    await slow.started;
    const two = hostOf(bot(['never']), { store: elsewhere(store) });
    expect(await two.host.unfinished()).toEqual([]);
    expect((await two.host.recover()).sessions).toEqual([]);
    slow.finish('ok');
    expect(endOf(await going.ended).reason).toBe('completed');
  });
});

describe('a question that nobody has answered in time', () => {
  afterEach(() => vi.useRealTimers());

  async function expired(answers: string[]) {
    const pay = notingTool('pay');
    const model = new ScriptedModel([paying, ...answers]);
    const policy = policyOf({ pay: { outcome: 'ask', expiresIn: 60 } });
    const bench = hostOf(bot(model), { tools: [pay.tool], policy });
    const session = await bench.host.open('bot', { sessionId: 's', create: true });
    await say(session, 'go');
    const open = await only(session);
    vi.useFakeTimers({ toFake: ['Date'] });
    vi.setSystemTime(Date.now() + 61_000);
    return { ...bench, session, pay, open };
  }
  const denied = { pay: 'denied: nobody answered in time' };

  test('APP-B3 counts as answered no for a message that would not step over it', async () => {
    const { session, pay } = await expired(['Hello.']);
    const events = await say(session, 'hello?', { whilePending: 'hold' });
    expect(endOf(events).reason).toBe('completed');
    const all = [];
    for await (const event of session.events()) all.push(event);
    expect(results(all)).toMatchObject(denied);
    expect(pay.runs).toEqual([]);
  });

  test('APP-B3 is settled by whoever lists what is open, and by a recovery', async () => {
    const { host, session, open } = await expired(['Not in time.']);
    expect(await host.approvals.list()).toEqual([]);
    expect(await whole(session).inner.pending()).toEqual([]);
    expect((await host.audit('s')).map(({ outcome }) => outcome)).toEqual(['denied']);
    const late = session.respond(open.requestId, { kind: 'approve' });
    expect((await refusal(late)).code).toBe('E_REQUEST_CLOSED');
    await (await host.recover()).done;
    expect(await session.standing()).toMatchObject({ isOver: true });
  });

  test('APP-B3 of a tool of the agent’s own, whatever the host has under that name', async () => {
    const [own, hosts] = [notingTool('pay'), notingTool('pay')];
    const policy: PolicyEvaluator = {
      evaluate: ({ context }) =>
        context?.resource?.source === 'host' ? { outcome: 'allow' } : { outcome: 'ask', expiresIn: 60 },
    };
    const { host } = hostOf(bot([paying, 'Hello.'], { tools: [own.tool] }), { tools: [hosts.tool], policy });
    const session = await host.open('bot', { sessionId: 's', create: true });
    await say(session, 'go');
    expect((await only(session)).handledBy).toBe('agent');
    vi.useFakeTimers({ toFake: ['Date'] });
    vi.setSystemTime(Date.now() + 61_000);
    expect(endOf(await say(session, 'hello?', { whilePending: 'hold' })).reason).toBe('completed');
    expect([own.runs, hosts.runs]).toEqual([[], []]);
  });

  test('APP-B3 a recovery settles it where nobody has looked', async () => {
    const { host, session } = await expired(['Not in time.']);
    expect(await host.unfinished()).toEqual([s]);
    await (await host.recover()).done;
    expect(await session.standing()).toMatchObject({ isOver: true });
    expect(await host.unfinished()).toEqual([]);
  });
});

describe('many open questions', () => {
  /** Sessions that wait, of different users. */
  async function waiting(count: number) {
    const store = new InMemorySessionService();
    const pay = notingTool('pay');
    const policy = policyOf({ pay: 'ask' });
    const opened = new Set<string>();
    const first = hostOf(bot(Array.from({ length: count }, () => paying)), { tools: [pay.tool], policy, store });
    for (let n = 0; n < count; n++) {
      const session = await first.host.open('bot', { sessionId: `s${n}`, create: true, userId: `u${n % 3}` });
      await say(session, 'go');
      await session[Symbol.asyncDispose]();
    }
    const get = store.get.bind(store);
    store.get = (key, options) => {
      opened.add(key.id);
      return get(key, options);
    };
    return { opened, pay, bench: hostOf(bot(['done', 'done', 'done']), { tools: [pay.tool], policy, store }) };
  }

  test('APP-F9 SOAK-10 a decision looks into the session that asks, whether that is named or not', async () => {
    const { bench, opened, pay } = await waiting(12);
    const { host } = bench;
    const [, open] = await host.approvals.list();
    opened.clear();
    const { requestId, sessionId } = open?.request ?? { requestId: '', sessionId: '' };
    await host.approvals.decide(requestId, { kind: 'approve' }, { by: { id: `${open?.userId}` }, sessionId });
    await host.idle();
    expect(opened).toEqual(new Set([sessionId]));
    const [next] = await host.approvals.list();
    opened.clear();
    await host.approvals.decide(next?.request.requestId ?? '', { kind: 'approve' }, { by: { id: `${next?.userId}` } });
    // APP-F8: what the decision has set going has come to its end.
    await host.idle();
    expect(opened).toEqual(new Set([next?.request.sessionId]));
    expect(pay.runs).toHaveLength(2);
  });

  test('APP-F9 a page looks into no more sessions than it shows; what was answered meanwhile moves nothing', async () => {
    const { bench, opened } = await waiting(7);
    const { approvals } = bench.host;
    const all = (await approvals.list()).map(({ request }) => request.sessionId);
    opened.clear();
    const first = await approvals.list({ limit: 3 });
    expect(opened.size).toBe(3);
    const last = first.at(-1);
    await approvals.decide(last?.request.requestId ?? '', { kind: 'deny' }, { by: { id: `${last?.userId}` } });
    await bench.host.idle();
    const second = await approvals.list({ limit: 3, after: last?.cursor ?? '' });
    const third = await approvals.list({ limit: 3, after: second.at(-1)?.cursor ?? '' });
    // Two that were asked in one millisecond may be stored, and so be paged, the other way round.
    const paged = [...first, ...second, ...third].map(({ request }) => request.sessionId);
    expect(paged.sort()).toEqual(all.sort());
    await expect(approvals.list({ after: 'x' })).rejects.toMatchObject({ code: 'E_BAD_INPUT' });
  });
});

describe('ATK2-20 one session that cannot be read', () => {
  /** Three sessions that ask, of which `bad` can be read no more. */
  async function damaged() {
    const store = new InMemorySessionService();
    const options = { store, tools: [notingTool('pay').tool], policy: policyOf({ pay: 'ask' }) };
    const first = hostOf(bot([paying, paying, paying]), options);
    for (const sessionId of ['a', 'bad', 'z'])
      await say(await first.host.open('bot', { sessionId, create: true }), 'go');
    await first.host.close();
    const { get } = store;
    store.get = async (key, ...more) => {
      if (key.id === 'bad') throw new CoxswainError('DATA_LOSS', 'E_STORE', 'its event 1 cannot be read');
      return get.call(store, key, ...more);
    };
    return hostOf(bot(['done']), options);
  }

  test('hides no question of another, and is told of', async () => {
    const { host, warnings } = await damaged();
    const found = await host.approvals.list();
    expect(found.map(({ request }) => request.sessionId).sort()).toEqual(['a', 'z']);
    expect(warnings).toContainEqual(expect.stringContaining('session bad of local cannot be looked into'));
    await expect(host.approvals.list({ sessionId: 'bad' })).rejects.toMatchObject({ status: 'DATA_LOSS' });
    await host.close();
  });

  test('sibling: keeps nobody from being recovered', async () => {
    const { host, warnings } = await damaged();
    expect(await host.unfinished()).toEqual([]);
    expect((await host.recover()).sessions).toEqual([]);
    expect(warnings).toContainEqual(expect.stringContaining('session bad of local cannot be looked into'));
    await host.close();
  });
});
