import { describe, expect, test } from 'vitest';
import { openSqlite } from '../../src/adapters/stores/sql/open-sqlite.ts';
import type { PolicyDecision, Principal } from '../../src/contracts/index.ts';
import { InMemorySessionService } from '../../src/index.ts';
import { bot, endOf, hostOf, notingTool, only, policyOf, refusal, results, say, slowTool, tool } from './kit.ts';

const pay = (eur = 5) => bot([{ calls: [['pay', { eur }]] }, 'done']);
const boss = { id: 'bo', roles: ['boss'] };
const anna = { id: 'anna' };
const strict: PolicyDecision = { outcome: 'ask', approvers: { roles: ['boss'], notRequester: true }, ruleId: 'r' };

describe('what a question was put with', () => {
  test('NEW-P1 holds under a host that was made without that policy', async () => {
    for (const now of ['allow', 'ask'] as const) {
      const store = new InMemorySessionService();
      const { tool, runs } = notingTool('pay');
      const first = hostOf(pay(), { store, tools: [tool], policy: policyOf({ pay: strict }) });
      await say(await first.host.open('bot', { sessionId: 's', create: true, principal: anna }), 'go');
      await first.host.close();
      const { host } = hostOf(bot(['done']), { store, tools: [tool], policy: policyOf({ pay: now }) });
      const session = await host.open('bot', { sessionId: 's' });
      expect(endOf(await say(session, { kind: 'continue' })).reason).toBe('input_required');
      const { requestId, approval } = await only(session);
      expect(approval).toMatchObject({ approvers: { roles: ['boss'], notRequester: true }, ruleId: 'r' });
      const given = { kind: 'approve' as const, by: { ...anna, roles: ['boss'] } };
      expect((await refusal(session.respond(requestId, given))).code).toBe('E_NOT_APPROVER');
      await session.respond(requestId, { kind: 'approve', by: boss });
      await say(session, { kind: 'continue' });
      expect(runs).toEqual([{ eur: 5 }]);
      await host.close();
    }
  });

  const tighter: [string, PolicyDecision][] = [
    ['other approvers', { outcome: 'ask', approvers: { roles: ['boss'] } }],
    ['more of them', { outcome: 'ask', approvers: { quorum: 3 } }],
  ];
  test.each(tighter)('ATT-B11 a policy that is tightened after the yes is obeyed at once: %s', async (_, now) => {
    let word: PolicyDecision = { outcome: 'ask' };
    const { tool, runs } = notingTool('pay');
    const { host } = hostOf(pay(), { tools: [tool], policy: policyOf({ pay: () => word }) });
    const session = await host.open('bot', { principal: anna });
    await say(session, 'go');
    await session.respond((await only(session)).requestId, { kind: 'approve', by: { id: 'eve' } });
    word = now;
    expect(endOf(await say(session, { kind: 'continue' })).reason).toBe('input_required');
    expect(runs).toEqual([]);
    expect((await only(session)).approval?.approvers).toEqual(now.approvers);
    await host.close();
  });

  test('ATT-B11 so is one that hides more, and gives less time', async () => {
    let word: PolicyDecision = { outcome: 'ask', expiresIn: 3600 };
    const { tool, runs } = notingTool('pay');
    const { host } = hostOf(pay(), { tools: [tool], policy: policyOf({ pay: () => word }) });
    const session = await host.open('bot', { principal: anna });
    await say(session, 'go');
    word = { outcome: 'ask', expiresIn: 1800, redact: ['/eur'] };
    const { requestedAt, expiresAt, approval } = await only(session);
    expect(Date.parse(expiresAt ?? '') - Date.parse(requestedAt)).toBe(1_800_000);
    expect(approval?.redact).toEqual(['/eur']);
    word = { outcome: 'ask', expiresIn: 0.001 };
    expect(results(await say(session, { kind: 'continue' })).pay).toMatch(/nobody answered in time/);
    expect(runs).toEqual([]);
    await host.close();
  });

  test('NEW-P1 an answer before anybody goes on is held to it: the highest quorum, all roles, what is hidden', async () => {
    const store = openSqlite(':memory:');
    const { tool, runs } = notingTool('pay');
    const then: PolicyDecision = {
      outcome: 'ask',
      approvers: { roles: ['boss'], quorum: 2 },
      redact: ['/eur'],
      expiresIn: 3600,
      reason: 'it is much',
    };
    const first = hostOf(pay(), { store, tools: [tool], policy: policyOf({ pay: then }) });
    await say(await first.host.open('bot', { sessionId: 's', create: true, principal: anna }), 'go');
    const [asked] = await first.host.approvals.list();
    await first.host.close();
    const now: PolicyDecision = {
      outcome: 'ask',
      approvers: { roles: ['finance'] },
      redact: ['/to'],
      expiresIn: 7200,
    };
    const { host } = hostOf(bot(['done']), { store, tools: [tool], policy: policyOf({ pay: now }) });
    const [open] = await host.approvals.list();
    expect(open?.request).toMatchObject({
      requestId: asked?.request.requestId,
      expiresAt: asked?.request.expiresAt,
      approval: {
        approvers: { roles: ['boss'], also: [['finance']], quorum: 2 },
        redact: ['/eur', '/to'],
        reason: 'it is much',
        requestedBy: anna,
      },
    });
    const requestId = open?.request.requestId ?? '';
    const decide = (id: string, ...roles: string[]) =>
      host.approvals.decide(requestId, { kind: 'approve' }, { by: { id, roles } });
    for (const roles of [['boss'], ['finance'], []]) {
      expect((await refusal(decide('bo', ...roles))).code).toBe('E_NOT_APPROVER');
    }
    expect((await decide('bo', 'boss', 'finance')).status).toBe('waiting_quorum');
    expect((await decide('cy', 'boss', 'finance')).status).toBe('settled');
    await expect.poll(() => runs).toEqual([{ eur: 5 }]);
    await host.close();
  });

  test('NEW-P1 a policy that denies now denies', async () => {
    const store = new InMemorySessionService();
    const { tool, runs } = notingTool('pay');
    const first = hostOf(pay(), { store, tools: [tool], policy: policyOf({ pay: strict }) });
    const session = await first.host.open('bot', { sessionId: 's', create: true, principal: anna });
    await say(session, 'go');
    await session.respond((await only(session)).requestId, { kind: 'approve', by: boss });
    await first.host.close();
    const { host } = hostOf(bot(['done']), { store, tools: [tool], policy: policyOf({ pay: 'deny' }) });
    const again = await host.open('bot', { sessionId: 's' });
    expect(results(await say(again, { kind: 'continue' })).pay).toMatch(/^denied/);
    expect(runs).toEqual([]);
    await host.close();
  });

  test('APP-F13 a yes to a call that policy denies since is said to be a no, and the list has policy’s word on it', async () => {
    let word: PolicyDecision = strict;
    const { tool, runs } = notingTool('pay');
    const { host } = hostOf(pay(), { tools: [tool], policy: policyOf({ pay: () => word }) });
    const session = await host.open('bot', { principal: anna });
    await say(session, 'go');
    const { requestId } = await only(session);
    word = { outcome: 'deny', reason: 'the budget is used up' };
    const listed = await host.approvals.list({ approver: boss });
    expect(listed).toMatchObject([
      { denied: { by: 'policy', reason: 'the budget is used up' }, request: { requestId } },
    ]);
    expect(listed[0]?.request.message).toBe('Run pay? Policy denies it now: the budget is used up');
    expect(await host.approvals.list({ approver: anna })).toEqual([]);
    const yes = (by: typeof anna) => host.approvals.decide(requestId, { kind: 'approve' }, { by });
    expect((await refusal(yes(anna))).code).toBe('E_NOT_APPROVER');
    expect(await yes(boss)).toEqual({ status: 'settled', by: 'policy', outcome: 'deny' });
    await host.idle();
    expect(runs).toEqual([]);
    expect(await session.pending()).toEqual([]);
    expect(await host.approvals.list()).toEqual([]);
    await host.close();
  });

  test('APP-F4 where policy names nobody, the rule of the host says who may decide', async () => {
    const { tool, runs } = notingTool('pay');
    const approvers = { roles: ['boss'], notRequester: true };
    const { host } = hostOf(pay(), { tools: [tool], policy: policyOf({ pay: 'ask' }), approvers });
    const session = await host.open('bot', { principal: anna });
    await say(session, 'go');
    const { requestId } = await only(session);
    const eve = { id: 'eve' };
    expect(await host.approvals.list({ approver: eve })).toEqual([]);
    expect(await host.approvals.list({ approver: boss })).toMatchObject([{ request: { approval: { approvers } } }]);
    for (const by of [eve, anna]) {
      const refused = refusal(host.approvals.decide(requestId, { kind: 'approve' }, { by }));
      expect((await refused).code).toBe('E_NOT_APPROVER');
      expect((await refusal(session.respond(requestId, { kind: 'approve', by }))).code).toBe('E_NOT_APPROVER');
    }
    expect((await host.approvals.decide(requestId, { kind: 'approve' }, { by: boss })).status).toBe('settled');
    await host.idle();
    expect(runs).toEqual([{ eur: 5 }]);
    await host.close();
    for (const bad of [{ roles: 'boss' }, { quorum: 0 }, { rolls: ['boss'] }]) {
      expect(() => hostOf(pay(), { approvers: bad as never })).toThrow(
        expect.objectContaining({ code: 'E_BAD_INPUT' }),
      );
    }
  });

  /** A process died in a call that a boss had let run; the next one has this policy. */
  async function died(now: Record<string, PolicyDecision | PolicyDecision['outcome']>, extra = {}) {
    const store = new InMemorySessionService();
    const left = new InMemorySessionService();
    const slow = slowTool('pay', extra);
    const { host } = hostOf(pay(), { store, tools: [slow.tool], policy: policyOf({ pay: strict }) });
    const session = await host.open('bot', { sessionId: 's', create: true, principal: anna });
    await say(session, 'go');
    await session.respond((await only(session)).requestId, { kind: 'approve', by: boss });
    const stream = say(session, { kind: 'continue' });
    await slow.started;
    const key = { app: 'shop', userId: 'local', id: 's' };
    await left.create(key);
    await left.append(key, [...((await store.get(key))?.events ?? [])]);
    slow.finish('paid');
    await stream;
    await host.close();
    const again = notingTool('pay', extra);
    const later = hostOf(bot(['done']), { store: left, tools: [again.tool], policy: policyOf(now) });
    return { host: later.host, session: await later.host.open('bot', { sessionId: 's', principal: anna }), again };
  }

  test.each([
    ['the same', strict],
    ['none', 'allow'],
    ['one that asks anybody', 'ask'],
  ] as const)(
    'APP-B1 a call that a crash cut off is let run again by its approvers alone; policy is %s',
    async (_, now) => {
      const { host, session, again } = await died({ pay: now });
      const { requestId, kind, approval } = await only(session);
      expect(kind).toBe('rerun_unknown');
      expect(approval).toMatchObject({ approvers: { roles: ['boss'], notRequester: true }, ruleId: 'r' });
      for (const by of [anna, { id: 'eve' }, { ...anna, roles: ['boss'] }]) {
        expect((await refusal(session.respond(requestId, { kind: 'approve', by }))).code).toBe('E_NOT_APPROVER');
      }
      await say(session, { kind: 'continue' });
      expect(again.runs).toEqual([]);
      await session.respond(requestId, { kind: 'approve', by: boss });
      await say(session, { kind: 'continue' });
      expect(again.runs).toEqual([{ eur: 5 }]);
      await host.close();
    },
  );

  test('APP-B1 it is not run again where policy denies it since, and asks nobody', async () => {
    const { host, session, again } = await died({ pay: 'deny' });
    expect((await session.pending()).map(({ kind }) => kind)).toEqual(['tool']);
    expect(results(await say(session, { kind: 'continue' })).pay).toMatch(/^interrupted/);
    expect(again.runs).toEqual([]);
    await host.close();
  });

  test('APP-B1 one that does no harm goes on unasked, unless others have to say yes since', async () => {
    const harmless = { annotations: { idempotent: true } };
    const same = await died({ pay: strict }, harmless);
    await say(same.session, { kind: 'continue' });
    expect(same.again.runs).toEqual([{ eur: 5 }]);
    await same.host.close();
    const now: PolicyDecision = { outcome: 'ask', approvers: { roles: ['finance'] } };
    const { host, session, again } = await died({ pay: now }, harmless);
    await say(session, { kind: 'continue' });
    expect(again.runs).toEqual([]);
    const { requestId, approval } = await only(session);
    expect(approval?.approvers).toEqual({ roles: ['boss'], also: [['finance']], notRequester: true });
    await session.respond(requestId, { kind: 'approve', by: { id: 'cy', roles: ['boss', 'finance'] } });
    await say(session, { kind: 'continue' });
    expect(again.runs).toEqual([{ eur: 5 }]);
    await host.close();
  });

  test('APP-B1 what a handler asks is for the approvers of the call, and votes for the call are none for it', async () => {
    const runs: unknown[] = [];
    const made = tool('pay', (args, context) => {
      if (!context?.confirmation) return context?.requestConfirmation({ hint: 'sure?' });
      runs.push(args);
      return 'paid';
    });
    let word: PolicyDecision = { outcome: 'ask', approvers: { roles: ['boss'], quorum: 2 } };
    const { host } = hostOf(pay(), { tools: [made], policy: policyOf({ pay: () => word }) });
    const session = await host.open('bot', { principal: anna });
    await say(session, 'go');
    const vote = async (id: string) =>
      session.respond((await only(session)).requestId, { kind: 'approve', by: { id, roles: ['boss'] } });
    await Promise.all([vote('bo'), vote('cy')]);
    await say(session, { kind: 'continue' });
    const { requestId, message } = await only(session);
    expect(message).toBe('sure?');
    expect((await refusal(session.respond(requestId, { kind: 'approve', by: anna }))).code).toBe('E_NOT_APPROVER');
    expect((await vote('bo')).status).toBe('waiting_quorum');
    await say(session, { kind: 'continue' });
    expect(runs).toEqual([]);
    word = { outcome: 'deny', reason: 'no more' };
    expect(results(await say(session, { kind: 'continue' })).pay).toBe('denied by policy: no more');
    expect(runs).toEqual([]);
    await host.close();
  });

  test('APP-B1 what a handler asks while it runs is for the approvers of the call, by policy of then and of now', async () => {
    const heard: unknown[] = [];
    const elicits = tool('pay', async (_, context) => {
      for (const message of ['sure?', 'still sure?', 'quite sure?']) heard.push(await context?.elicit?.({ message }));
      return 'paid';
    });
    let word: PolicyDecision = { outcome: 'ask', approvers: { roles: ['boss'] } };
    const { host } = hostOf(pay(), {
      tools: [elicits],
      policy: policyOf({ pay: () => word }),
      store: new InMemorySessionService(),
    });
    const session = await host.open('bot', { sessionId: 's', create: true, principal: anna });
    await say(session, 'go');
    await session.respond((await only(session)).requestId, { kind: 'approve', by: boss });
    const asked = async (message: string) => {
      await expect.poll(async () => (await session.pending()).at(-1)?.message).toBe(message);
      return (await session.pending()).at(-1)?.requestId ?? '';
    };
    const refused = async (requestId: string, by: Principal) => {
      const ways = [
        session.respond(requestId, { kind: 'approve', by }),
        session.respond(requestId, { kind: 'deny', by }),
        host.approvals.decide(requestId, { kind: 'approve' }, { by }),
      ];
      for (const way of ways) expect((await refusal(way)).code).toBe('E_NOT_APPROVER');
      expect(await host.approvals.list({ approver: by })).toEqual([]);
    };
    // It is for the boss also where policy lets the call run since.
    word = { outcome: 'allow' };
    const done = say(session, { kind: 'continue' });
    const first = await asked('sure?');
    await refused(first, anna);
    expect(await host.approvals.list({ approver: boss })).toHaveLength(1);
    word = { outcome: 'ask', approvers: { roles: ['finance'] } };
    await host.approvals.decide(first, { kind: 'approve' }, { by: boss });
    const second = await asked('still sure?');
    await refused(second, anna);
    await refused(second, boss);
    word = { outcome: 'deny' };
    await session.respond(second, { kind: 'approve', by: { id: 'cy', roles: ['boss', 'finance'] } });
    expect(results(await done).pay).toBe('paid');
    expect(heard).toEqual([{ action: 'accept' }, { action: 'accept' }, { action: 'cancel' }]);
    await host.close();
  });

  test('ATT-B5 two people who complete a quorum at once settle it once', async () => {
    const store = new InMemorySessionService();
    const { tool, runs } = notingTool('pay');
    const options = {
      store,
      tools: [tool],
      policy: policyOf({ pay: { outcome: 'ask', approvers: { quorum: 2 } } }),
    };
    const one = hostOf(pay(), options).host;
    const two = hostOf(pay(), options).host;
    const session = await one.open('bot', { sessionId: 's', create: true, principal: anna });
    await say(session, 'go');
    const other = await two.open('bot', { sessionId: 's' });
    const { requestId } = await only(session);
    const came = await Promise.all([
      session.respond(requestId, { kind: 'approve', by: { id: 'kim' } }),
      other.respond(requestId, { kind: 'approve', by: { id: 'lee' } }),
    ]);
    expect(came.map(({ status }) => status).sort()).toEqual(['settled', 'waiting_quorum']);
    await say(session, { kind: 'continue' });
    expect(runs).toEqual([{ eur: 5 }]);
    await Promise.all([one.close(), two.close()]);
  });

  test('MUT-H1 a vote counts for what was shown', async () => {
    let text = '5 EUR';
    const { tool, runs } = notingTool('pay', { preview: () => [{ type: 'text', text }] });
    const policy = policyOf({ pay: { outcome: 'ask', approvers: { quorum: 2 } } });
    const { host } = hostOf(pay(), { tools: [tool], policy });
    const session = await host.open('bot', { principal: anna });
    await say(session, 'go');
    const { requestId } = await only(session);
    const vote = async (id: string, seen = {}) =>
      (await session.respond(requestId, { kind: 'approve', by: { id }, ...seen })).status;
    expect(await vote('bob')).toBe('waiting_quorum');
    text = '500 EUR';
    await expect(vote('eve')).rejects.toMatchObject({ code: 'E_PREVIEW_CHANGED' });
    const { approval } = await only(session);
    expect(await vote('eve', { previewDigest: approval?.previewDigest })).toBe('waiting_quorum');
    await say(session, { kind: 'continue' });
    expect(runs).toEqual([]);
    expect(await vote('bob')).toBe('settled');
    await say(session, { kind: 'continue' });
    expect(runs).toEqual([{ eur: 5 }]);
    await host.close();
  });
});
