import { describe, expect, test, vi } from 'vitest';
import type { AgentSource, Principal } from '../../src/contracts/index.ts';
import type { PolicyRule } from '../../src/index.ts';
import { createHost, fromAgent, InMemorySessionService, LlmAgent, rulePolicy, subagentTool } from '../../src/index.ts';
import type { SessionService } from '../../src/runtime/index.ts';
import { lyingExecutor, ScriptedModel } from '../../src/testing/index.ts';
import { fronting, get } from '../http/kit.ts';
import { all, bot, notingTool, policyOf } from './kit.ts';

const boss: Principal = { id: 'bert', roles: ['boss'] };
const stranger: Principal = { id: 'eve', roles: ['clerk'] };

/** A host over a store, which notes the sessions that it opens and the events that are read of their logs. */
function shop(store: SessionService, answers: number, options: { approvalPollMs?: number } = {}) {
  const work = { opened: 0, events: 0 };
  const model = new ScriptedModel(Array.from({ length: answers }, () => ({ calls: [['pay', {}]] as const })));
  const inner = fromAgent(bot(model));
  const source: AgentSource = {
    ...inner,
    async open(...given) {
      work.opened++;
      const session = await inner.open(...given);
      const events = session.events.bind(session);
      return Object.assign(session, {
        async *events(...asked: Parameters<typeof events>) {
          for await (const event of events(...asked)) {
            work.events++;
            yield event;
          }
        },
      });
    },
  };
  const pay = notingTool('pay');
  const host = createHost({
    app: 'shop',
    agents: [source],
    store,
    tools: [pay.tool],
    policy: policyOf({ pay: { outcome: 'ask', approvers: { roles: ['boss'] } } }),
    ...options,
  });
  return { host, work };
}

/** So many sessions that wait for the boss, and a host that has opened none of them. */
async function waiting(sessions: number) {
  const store = new InMemorySessionService();
  const before = shop(store, sessions);
  for (let n = 0; n < sessions; n++) {
    const session = await before.host.open('bot', { sessionId: `s${n}`, create: true, userId: 'anna' });
    await all(session.stream('pay'));
  }
  await before.host.close();
  return { store, before, ...shop(store, 0) };
}

describe('ATK3-09 the open questions of others', () => {
  test.each([
    [stranger, 0],
    [boss, 30],
  ])('many lists at once read each waiting session once: those of %j find %i', async (approver, many) => {
    const { host, work } = await waiting(30);
    const lists = await Promise.all(Array.from({ length: 20 }, () => host.approvals.list({ approver })));
    expect(lists.map(({ length }) => length)).toEqual(lists.map(() => many));
    expect(work.opened).toBe(30);
    await host.close();
  });

  test('over plain HTTP: strangers at once, and again', async () => {
    const { host, work } = await waiting(20);
    const front = await fronting(host);
    const ask = async (token: string) =>
      (await get(front, '/v1/approvals', { token })).body as { approvals: unknown[] };
    const strangers = Array.from({ length: 20 }, (_, n) => `stranger${n}`);
    const lists = await Promise.all(strangers.map(ask));
    expect(lists.flatMap(({ approvals }) => approvals)).toEqual([]);
    expect(work.opened).toBe(20);
    await Promise.all(strangers.map(ask));
    expect(work.opened).toBe(20);
    expect((await ask('bert:boss')).approvals).toHaveLength(20);
  });

  test('somebody who may see none of them has no session opened again', async () => {
    const { host, work } = await waiting(10);
    await host.approvals.list({ approver: boss });
    work.opened = 0;
    for (let n = 0; n < 5; n++) expect(await host.approvals.list({ approver: stranger })).toEqual([]);
    expect(await host.approvals.list({ approver: stranger, sessionId: 's1' })).toEqual([]);
    expect(work.opened).toBe(0);
    expect(await host.approvals.list({ approver: boss })).toHaveLength(10);
    await host.close();
  });

  test('what another process asks since is seen: its session alone is opened again', async () => {
    const { host, work, store } = await waiting(10);
    const clerk = { id: 'carl', roles: ['clerk'] };
    expect(await host.approvals.list({ approver: clerk })).toEqual([]);
    work.opened = 0;
    const other = shop(store, 1);
    const [open] = await other.host.approvals.list({ sessionId: 's3' });
    await other.host.approvals.decide(open?.request.requestId ?? '', { kind: 'deny' }, { by: boss });
    await other.host.idle();
    expect(await host.approvals.list({ approver: clerk })).toEqual([]);
    expect(work.opened).toBe(1);
    expect(await host.approvals.list({ approver: boss })).toHaveLength(10);
    await other.host.close();
    await host.close();
  });

  test('policy may say something else after half a minute', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const { host, work } = await waiting(3);
    await host.approvals.list({ approver: stranger });
    work.opened = 0;
    vi.setSystemTime(Date.now() + 29_000);
    await host.approvals.list({ approver: stranger });
    expect(work.opened).toBe(0);
    vi.setSystemTime(Date.now() + 2_000);
    await host.approvals.list({ approver: stranger });
    expect(work.opened).toBe(3);
    vi.useRealTimers();
    await host.close();
  });
});

describe('ATK3-09 what came of a question', () => {
  test('a stranger has the log read once in a while, however often and of whatever they ask', async () => {
    const { host, work } = await waiting(1);
    const place = { agent: 'bot', userId: 'anna', sessionId: 's0' };
    const ask = (id: string) => host.approvals.outcome(id, { by: stranger, ...place });
    const [open] = await host.approvals.list();
    const { requestId } = open?.request ?? { requestId: '' };
    expect(await ask(requestId)).toBeUndefined();
    Object.assign(work, { opened: 0, events: 0 });
    for (let n = 0; n < 20; n++) expect(await ask(n % 2 ? requestId : `x${n}#policy`)).toBeUndefined();
    expect(work).toEqual({ opened: 0, events: 0 });
    await host.close();
  });

  test('somebody who has answered it may ask, also of a host that has not seen that', async () => {
    const { host, store, work } = await waiting(1);
    const place = { agent: 'bot', userId: 'anna', sessionId: 's0' };
    const other = shop(store, 1);
    const [open] = await other.host.approvals.list();
    const { requestId } = open?.request ?? { requestId: '' };
    await other.host.approvals.decide(requestId, { kind: 'deny' }, { by: boss });
    await other.host.idle();
    await other.host.close();
    expect(await host.approvals.outcome(requestId, { by: boss, ...place })).toMatchObject({
      isOpen: false,
      call: { answers: [{ by: 'bert' }], outcome: 'denied' },
    });
    expect(await host.approvals.outcome(requestId, { by: { id: 'anna' }, ...place })).toMatchObject({ isOpen: false });
    work.opened = 0;
    expect(await host.approvals.outcome(requestId, { by: stranger, ...place })).toBeUndefined();
    expect(work.opened).toBe(0);
    await host.close();
  });
});

test('ATK3-09 sibling: an id that nobody asks has sessions that wait for a sub-agent opened once', async () => {
  const opened: string[] = [];
  const counted = (inner: AgentSource): AgentSource => ({
    ...inner,
    async open(...given) {
      const session = await inner.open(...given);
      opened.push(session.id);
      return session;
    },
  });
  const sessions = 5;
  const script = (name: string) =>
    Array.from({ length: sessions }, () => ({ calls: [[name, { request: 'go' }]] as const }));
  const expert = new LlmAgent({ name: 'expert', description: 'knows', model: new ScriptedModel(script('pay')) });
  const host = createHost({
    app: 'shop',
    agents: [counted(fromAgent(bot(new ScriptedModel(script('expert')))))],
    store: new InMemorySessionService(),
    tools: [notingTool('pay').tool, subagentTool(counted(fromAgent(expert)))],
    policy: policyOf({ pay: { outcome: 'ask', approvers: { roles: ['boss'] } } }),
  });
  for (let n = 0; n < sessions; n++) {
    const session = await host.open('bot', { sessionId: `s${n}`, create: true, userId: 'anna' });
    await all(session.stream('pay'));
    await session[Symbol.asyncDispose]();
  }
  const guess = () => host.approvals.find('nothing#policy');
  expect(await guess()).toEqual([]);
  opened.length = 0;
  for (let n = 0; n < 5; n++) expect(await guess()).toEqual([]);
  expect(opened).toEqual([]);
  const [open] = await host.approvals.list({ approver: boss });
  expect(await host.approvals.find(open?.request.requestId ?? '')).toHaveLength(1);
  await host.close();
});

describe('ATK5-10 of executors that number their calls', () => {
  const calling = (name: string) => lyingExecutor({ name, calls: [{ id: 'c1', name: 'pay', args: { by: name } }] });
  const asks = (agent: string, role: string): PolicyRule => ({
    ...{ id: agent, tool: 'pay', agent, outcome: 'ask' },
    approvers: { roles: [role] },
  });
  const policy = rulePolicy([asks('bills', 'finance'), asks('wages', 'hr')]);
  const shopOf = () =>
    createHost({
      app: 'shop',
      agents: [calling('bills'), calling('wages')],
      store: new InMemorySessionService(),
      tools: [notingTool('pay').tool],
      policy,
    });
  const fred: Principal = { id: 'fred', roles: ['finance'] };
  const hanna: Principal = { id: 'hanna', roles: ['hr'] };

  test('who may know of a question of one agent knows nothing of that of another in a session of the same id', async () => {
    const host = shopOf();
    const ask = (by: Principal, agent: string, sessionId = 'main') =>
      host.approvals.outcome('c1#policy', { by, agent, userId: 'anna', sessionId });
    for (const agent of ['bills', 'wages', 'bills']) {
      const session = await host.open(agent, { sessionId: 'main', create: true, userId: 'anna' });
      if ((await session.pending()).length === 0) await all(session.stream('pay'));
    }
    expect([await ask(fred, 'wages'), await ask(hanna, 'bills')]).toEqual([undefined, undefined]);
    const wages = await host.open('wages', { sessionId: 'main', userId: 'anna' });
    await wages.respond('c1#policy', { kind: 'approve', by: hanna });
    await all(wages.stream({ kind: 'continue' }));
    expect(await ask(fred, 'wages')).toBeUndefined();
    expect(JSON.stringify(await ask(hanna, 'wages'))).toContain('"by":"wages"');
    // And still of their own, which was shown before the other one.
    expect(JSON.stringify(await ask(fred, 'bills'))).toContain('open');
    await host.close();
  });

  test('those who watch hear of the question that was answered, whichever was shown last', async () => {
    const host = shopOf();
    const [first, second] = [
      await host.open('bills', { sessionId: 'one', create: true, userId: 'anna' }),
      await host.open('bills', { sessionId: 'two', create: true, userId: 'anna' }),
    ];
    for (const session of [first, second]) await all(session.stream('pay'));
    const changes = host.approvals.changes({ approver: fred });
    const heard: unknown[] = [];
    const over = (async () => {
      for await (const { sessionId } of changes) heard.push(sessionId);
    })();
    await first.respond('c1#policy', { kind: 'approve', by: fred });
    await expect.poll(() => heard).toContain('one');
    await changes.return?.();
    await over;
    await host.close();
  });
});
