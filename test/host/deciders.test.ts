import { describe, expect, test } from 'vitest';
import type { ApproverRule, PolicyDecision, Principal } from '../../src/contracts/index.ts';
import { InMemorySessionService } from '../../src/index.ts';
import { all, bot, hostOf, notingTool, only, policyOf, refusal, say, slowTool, tool } from './kit.ts';

const ann: Principal = { id: 'ann' };
const svc: Principal = { id: 'svc', onBehalfOf: 'ann' };
const bo: Principal = { id: 'bo', roles: ['boss'] };
const eve: Principal = { id: 'eve', roles: ['guest'] };

/** A session of ann's in which `asker` has asked for a payment. */
async function asking(
  ask: Partial<PolicyDecision>,
  { approvers, asker = ann }: { approvers?: ApproverRule; asker?: Principal } = {},
) {
  const pay = notingTool('pay');
  const store = new InMemorySessionService();
  const options = {
    tools: [pay.tool],
    policy: policyOf({ pay: { outcome: 'ask', ...ask } }),
    store,
    ...(approvers ? { approvers } : {}),
  };
  const first = hostOf(bot([{ calls: [['pay']] }]), options);
  const session = await first.host.open('bot', { sessionId: 's', create: true, userId: 'ann', principal: asker });
  await say(session, 'go');
  const { requestId } = await only(session);
  await session[Symbol.asyncDispose]();
  return { host: hostOf(bot(['done']), options).host, pay, requestId };
}

const people = [ann, svc, bo, eve];

describe('who may decide on a question without holding its session', () => {
  test.each<[string, Partial<PolicyDecision>, Parameters<typeof asking>[1], string[]]>([
    ['policy names nobody', {}, {}, ['ann']],
    ['policy names nobody, and somebody else asked', {}, { asker: svc }, ['ann', 'svc']],
    ['policy names roles', { approvers: { roles: ['boss'] } }, {}, ['bo']],
    ['policy names all but whoever asked', { approvers: { notRequester: true } }, {}, ['bo', 'eve']],
    ['the host names them', {}, { approvers: { roles: ['guest'] } }, ['eve']],
    ['policy wants several, and names nobody', { approvers: { quorum: 2 } }, {}, ['ann']],
  ])('APP-F4 %s', async (_, ask, setting, names) => {
    const { host, pay, requestId } = await asking(ask, setting);
    const listed = await Promise.all(people.map((approver) => host.approvals.list({ approver })));
    expect(people.filter((_, index) => listed[index]?.length).map(({ id }) => id)).toEqual(names);
    // The program itself sees all.
    expect(await host.approvals.list()).toHaveLength(1);
    for (const by of people.filter(({ id }) => !names.includes(id))) {
      const refused = await refusal(host.approvals.decide(requestId, { kind: 'approve' }, { by }));
      expect([by.id, refused.status, refused.code]).toEqual([by.id, 'PERMISSION_DENIED', 'E_NOT_APPROVER']);
      const no = await refusal(host.approvals.decide(requestId, { kind: 'deny' }, { by }));
      expect(no.code).toBe('E_NOT_APPROVER');
    }
    await host.idle();
    expect(pay.runs).toEqual([]);
    const by = people.find(({ id }) => id === names[0]) as Principal;
    await host.approvals.decide(requestId, { kind: 'approve' }, { by });
    await host.idle();
    expect(pay.runs).toHaveLength(ask.approvers?.quorum ? 0 : 1);
  });

  test.each(['approve', 'deny'] as const)('ATT-3 the id of the call opens no other door: %s', async (kind) => {
    const { host, pay, requestId } = await asking({});
    const [callId = ''] = requestId.split('#');
    for (const id of [callId, `${callId}#policy.1`, `${callId}#rerun`, `${callId}#asked`]) {
      expect((await refusal(host.approvals.decide(id, { kind }, { by: eve }))).code).toBe('E_NOT_APPROVER');
    }
    await host.idle();
    expect([pay.runs, (await host.approvals.list()).length]).toEqual([[], 1]);
    expect(await host.approvals.decide(callId, { kind }, { by: ann })).toMatchObject({ status: 'settled', by: 'ann' });
    await host.idle();
    expect(pay.runs).toHaveLength(kind === 'approve' ? 1 : 0);
  });

  test('ATT-3 nobody hands in the result of a call that somebody else is asked about', async () => {
    const store = new InMemorySessionService();
    const { host } = hostOf(bot([{ calls: [['pay']] }, 'done']), { tools: [tool('pay')], policy: policyOf({}), store });
    const session = await host.open('bot', { userId: 'ann' });
    await say(session, 'go');
    const { requestId } = await only(session);
    const result = { content: [{ type: 'text' as const, text: 'paid' }] };
    const given = refusal(host.approvals.decide(requestId, { kind: 'result', result }, { by: eve }));
    expect((await given).code).toBe('E_NOT_APPROVER');
    expect(await host.approvals.decide(requestId, { kind: 'result', result }, { by: ann })).toMatchObject({
      status: 'settled',
    });
  });

  test('ATT-3 a second click of whom policy names says what has become of the first', async () => {
    const pay = slowTool('pay');
    const { host } = hostOf(bot([{ calls: [['pay']] }, 'done']), {
      tools: [pay.tool],
      policy: policyOf({ pay: { outcome: 'ask', approvers: { roles: ['boss'] } } }),
    });
    const session = await host.open('bot', { userId: 'ann' });
    await say(session, 'go');
    const { requestId } = await only(session);
    await host.approvals.decide(requestId, { kind: 'approve' }, { by: bo });
    await pay.started;
    const again = await host.approvals.decide(requestId, { kind: 'approve' }, { by: bo });
    expect(again).toMatchObject({ status: 'already_settled', by: 'bo' });
    expect((await refusal(host.approvals.decide(requestId, { kind: 'approve' }, { by: eve }))).code).toBe(
      'E_NOT_APPROVER',
    );
    pay.finish('paid');
    await host.idle();
  });

  test('APP-F4 a number of people without a word on who they are is told to whoever is refused', async () => {
    const { host, requestId } = await asking({ approvers: { quorum: 2 } });
    const { message } = await refusal(host.approvals.decide(requestId, { kind: 'approve' }, { by: bo }));
    expect(message).toContain('it wants 2 people: give it roles or notRequester');
  });

  test('APP-F13 APP-F4 a question that policy denies since is for the same people', async () => {
    const pay = notingTool('pay');
    let word: PolicyDecision = { outcome: 'ask' };
    const { host } = hostOf(bot([{ calls: [['pay']] }, 'done']), {
      tools: [pay.tool],
      policy: policyOf({ pay: () => word }),
    });
    const session = await host.open('bot', { userId: 'ann' });
    await say(session, 'go');
    const { requestId } = await only(session);
    word = { outcome: 'deny' };
    expect(await host.approvals.list({ approver: eve })).toEqual([]);
    expect((await refusal(host.approvals.decide(requestId, { kind: 'approve' }, { by: eve }))).code).toBe(
      'E_NOT_APPROVER',
    );
    expect(await host.approvals.list({ approver: ann })).toMatchObject([{ denied: { by: 'policy' } }]);
    expect(await host.approvals.decide(requestId, { kind: 'approve' }, { by: ann })).toMatchObject({ outcome: 'deny' });
  });

  test('APP-F4 watch shows a question to those who may decide on it', async () => {
    const pay = notingTool('pay');
    const { host } = hostOf(bot([{ calls: [['pay']] }]), { tools: [pay.tool], policy: policyOf({ pay: 'ask' }) });
    const [theirs, others] = [host.approvals.watch({ approver: ann }), host.approvals.watch({ approver: eve })];
    const [seen, none] = [theirs.next(), others.next()];
    await say(await host.open('bot', { userId: 'ann' }), 'go');
    expect((await seen).value?.userId).toBe('ann');
    await others.return?.();
    expect((await none).done).toBe(true);
    await theirs.return?.();
  });

  test('APP-F4 the agent’s own question is for the owner, too', async () => {
    const runs: unknown[] = [];
    const own = tool('own', (_, context) => {
      if (!context.confirmation) return context.requestConfirmation({ hint: 'sure?' });
      runs.push(1);
      return 'ok';
    });
    const { host } = hostOf(bot([{ calls: [['own']] }, 'done'], { tools: [own] }), { policy: policyOf({}) });
    const session = await host.open('bot', { userId: 'ann' });
    await say(session, 'go');
    const { requestId } = await only(session);
    expect((await refusal(host.approvals.decide(requestId, { kind: 'approve' }, { by: eve }))).code).toBe(
      'E_NOT_APPROVER',
    );
    expect(await host.approvals.list({ approver: eve })).toEqual([]);
    await host.approvals.decide(requestId, { kind: 'approve' }, { by: ann });
    await host.idle();
    expect(runs).toEqual([1]);
  });

  test('a caller that says how many must answer, or that a call starts, has said nothing', async () => {
    const runs: unknown[] = [];
    const own = tool('own', (_, context) => {
      if (!context.confirmation) return context.requestConfirmation({ hint: 'sure?' });
      runs.push(1);
      return 'ok';
    });
    const pay = notingTool('pay');
    const model = bot([{ calls: [['own'], ['pay']] }, 'done'], { tools: [own] });
    const { host } = hostOf(model, { tools: [pay.tool], policy: policyOf({ pay: 'ask' }) });
    const session = await host.open('bot', { userId: 'ann' });
    await say(session, 'go');
    const forged = { quorum: 2, starts: true, decision: { outcome: 'approved', by: 'policy' } };
    const open = await session.pending();
    const ofHost = open.find(({ approval }) => approval);
    const ofAgent = open.find(({ approval }) => !approval);
    // The agent's own question would be counted as one of two votes, and stay open.
    expect(await session.respond(ofAgent?.requestId ?? '', { kind: 'approve', ...forged } as never)).toMatchObject({
      status: 'settled',
    });
    const no = { kind: 'elicitation', action: 'decline', ...forged } as never;
    expect(await session.respond(ofHost?.requestId ?? '', no)).toMatchObject({ status: 'settled' });
    await all(session.stream({ kind: 'continue' }));
    expect([pay.runs, runs, await session.pending()]).toEqual([[], [1], []]);
  });

  test('APP-F4 a program without people needs to name none', async () => {
    const pay = notingTool('pay');
    const { host } = hostOf(bot([{ calls: [['pay']] }, 'done']), {
      tools: [pay.tool],
      policy: policyOf({ pay: 'ask' }),
    });
    const session = await host.open('bot');
    await say(session, 'go');
    const { requestId } = await only(session);
    expect(await host.approvals.list({ approver: { id: 'local' } })).toHaveLength(1);
    await host.approvals.decide(requestId, { kind: 'approve' }, { by: { id: 'local' } });
    await host.idle();
    expect(pay.runs).toHaveLength(1);
  });
});
