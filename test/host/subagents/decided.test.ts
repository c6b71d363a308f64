import { describe, expect, test } from 'vitest';
import type { SessionService } from '../../../src/index.ts';
import { InMemorySessionService } from '../../../src/index.ts';
import { all, bot, endOf, hostOf, notingTool, only, policyOf, say } from '../kit.ts';
import { askExpert, team } from './kit.ts';

const boss = { id: 'anna', roles: ['boss'] };
const asks = { outcome: 'ask' as const, approvers: { roles: ['boss'] } };

/** Ben's session `s`, in which a sub-agent's call was asked about and approved. */
async function asked(store: SessionService) {
  const pay = notingTool('pay');
  const made = team({
    boss: [askExpert, 'done'],
    expert: [{ calls: [['pay', { eur: 5 }]] }, 'paid'],
    tools: [pay.tool],
    host: { policy: policyOf({ pay: asks }) },
    store,
  });
  const { host } = made;
  const session = await host.open('boss', { userId: 'ben', sessionId: 's', create: true });
  await say(session, 'go');
  const { requestId } = await only(session);
  await session[Symbol.asyncDispose]();
  await host.approvals.decide(requestId, { kind: 'approve' }, { by: boss });
  await host.idle();
  return { ...made, pay, requestId };
}

const without = (store: InMemorySessionService) => {
  Object.defineProperty(store, 'decided', { value: undefined });
  return store;
};

describe.each([
  ['of the index', (): SessionService => new InMemorySessionService()],
  ['of the newest logs', (): SessionService => without(new InMemorySessionService())],
])('INSP-21 what sub-agents have asked %s', (_, storeOf) => {
  test('is listed with where it was asked and answered, for who may know of it; what came of it is found there', async () => {
    const { host, requestId, pay } = await asked(storeOf());
    expect(pay.runs).toEqual([{ eur: 5 }]);
    for (const by of [boss, { id: 'ben' }]) {
      const { decided } = await host.approvals.decided({ by });
      expect(decided).toMatchObject([
        {
          agent: 'expert',
          userId: 'ben',
          askedIn: { agent: 'boss', sessionId: 's' },
          requestId,
          tool: 'pay',
          by: 'anna',
        },
      ]);
      expect(decided[0]?.sessionId).toMatch(/^s\./);
      const { agent = '', sessionId = '' } = decided[0]?.askedIn ?? {};
      const outcome = await host.approvals.outcome(requestId, { by, agent, sessionId, userId: 'ben' });
      expect(outcome?.call).toMatchObject({ tool: 'pay', outcome: 'completed' });
    }
    expect((await host.approvals.decided({ by: { id: 'eve' } })).decided).toEqual([]);
    // It is found by who has asked it.
    expect((await host.approvals.decided({ by: boss, agent: 'expert' })).decided).toHaveLength(1);
    expect((await host.approvals.decided({ by: boss, agent: 'boss' })).decided).toEqual([]);
    await host.close();
  });

  test('is told from a session that is only named like one of theirs, and from a copy', async () => {
    const store = storeOf();
    const { host, requestId } = await asked(store);
    const [{ sessionId: childsId = '' } = {}] = (await host.approvals.decided({ by: boss })).decided;
    await host.close();
    const pay = notingTool('pay');
    const call = { calls: [['pay', { eur: 1 }]] } as const;
    const other = hostOf(bot(Array.from({ length: 4 }, () => [call, 'paid'] as const).flat(), { name: 'boss' }), {
      store,
      tools: [pay.tool],
      policy: policyOf({ pay: asks }),
    });
    const own = ['a.b', 's.1', 'f'.repeat(64)];
    for (const sessionId of own) {
      const session = await other.host.open('boss', { userId: 'ben', sessionId, create: true });
      await say(session, 'pay');
      const question = await only(session);
      await session.respond(question.requestId, { kind: 'deny', by: boss });
      expect(endOf(await say(session, { kind: 'continue' })).reason).toBe('completed');
      await session[Symbol.asyncDispose]();
    }
    const copy = await other.host.open('boss', { userId: 'ben', sessionId: childsId, fork: true });
    const copied = copy.id;
    await copy[Symbol.asyncDispose]();
    const { decided } = await other.host.approvals.decided({ by: boss });
    const listed = decided.map(({ sessionId, askedIn }) => [sessionId, askedIn?.sessionId]);
    expect(listed).toEqual(expect.arrayContaining([...own.map((id) => [id, undefined]), [childsId, 's']]));
    expect(decided.find(({ sessionId }) => sessionId === copied)?.askedIn).toBeUndefined();
    expect(decided.filter(({ askedIn }) => askedIn).map((one) => one.requestId)).toEqual([requestId]);
    expect(other.warnings).toEqual([]);
    await other.host.close();
  });
});

test('INSP-21 of a session that cannot be read now its question is listed as it is stored, with a warning', async () => {
  const store = new InMemorySessionService();
  const { host } = await asked(store);
  await host.close();
  const real = store.get.bind(store);
  const { host: later, warnings } = hostOf(bot(['never']), { store });
  let isBroken = true;
  store.get = (key, ...more) => {
    if (isBroken && key.id !== 's') throw new Error('the disk is broken');
    return real(key, ...more);
  };
  const list = async () => (await later.approvals.decided({ by: boss })).decided;
  const [one] = await list();
  expect(one).toMatchObject({ agent: 'expert', tool: 'pay' });
  expect(one?.askedIn).toBeUndefined();
  expect(warnings).toHaveLength(1);
  isBroken = false;
  expect((await list())[0]?.askedIn).toEqual({ agent: 'boss', sessionId: 's' });
  await later.close();
});

test('INSP-22 the decision on a call of an agent keeps its rule over a wait and a restart, and names the agent’s session', async () => {
  const store = new InMemorySessionService();
  const pay = notingTool('pay');
  const options = {
    boss: [askExpert, 'done'],
    expert: [{ calls: [['pay', { eur: 5 }]] }, 'paid'],
    tools: [pay.tool],
    host: {
      policy: policyOf({ pay: asks, expert: { outcome: 'allow', ruleId: 'experts', reason: 'may be asked' } }),
    },
    store,
  } as const;
  const first = team(options);
  const session = await first.host.open('boss', { userId: 'ben', sessionId: 's', create: true });
  await say(session, 'go');
  const { requestId } = await only(session);
  await first.host.close();
  const { host } = team({ ...options, boss: ['done'], expert: ['paid'] });
  await host.approvals.decide(requestId, { kind: 'approve' }, { by: boss });
  await host.idle();
  const again = await host.open('boss', { userId: 'ben', sessionId: 's' });
  const events = await all(again.events());
  const call = events.find((event) => event.type === 'tool_request');
  const decisions = events.flatMap((event) =>
    event.type === 'custom' && event.kind === 'policy_decision' ? [event.data] : [],
  );
  expect(pay.runs).toHaveLength(1);
  expect(decisions).toHaveLength(2);
  const [child] = (await host.sessions('ben').list()).filter(({ id }) => id !== 's');
  for (const decision of decisions) {
    expect(decision).toMatchObject({ callId: call?.requestId, outcome: 'approved', by: 'policy', ruleId: 'experts' });
    expect(decision).toMatchObject({ called: { agent: 'expert', sessionId: child?.id } });
  }
  // Told again with what the agent has used, it is one decision.
  const [entry] = await host.audit('s', { userId: 'ben' });
  expect(entry?.decisions).toMatchObject([{ outcome: 'approved', by: 'policy', ruleId: 'experts' }]);
  await again[Symbol.asyncDispose]();
  await host.close();
});
