import { describe, expect, test } from 'vitest';
import type { PolicyDecision, PolicyRequest } from '../../src/contracts/index.ts';
import { InMemorySessionService } from '../../src/index.ts';
import { bot, endOf, hostOf, notingTool, only, policyOf, refusal, say } from './kit.ts';

const boss = (id: string) => ({ id, roles: ['boss'] });
const [a, b, c] = [boss('a'), boss('b'), boss('c')];

const clerk = { id: 'carl', roles: ['clerk'] };

/** A question for two of the bosses about `pay({eur: 100})`. */
async function asked(said: (request: PolicyRequest) => PolicyDecision = () => two) {
  const store = new InMemorySessionService();
  const pay = notingTool('pay');
  let opened = 0;
  const open = async () => {
    const { host } = hostOf(bot(opened++ === 0 ? [{ calls: [['pay', { eur: 100 }]] }, 'done'] : ['done']), {
      store,
      tools: [pay.tool],
      policy: policyOf({ pay: said }),
    });
    return host.open('bot', { sessionId: 's', create: true });
  };
  const session = await open();
  await say(session, 'go');
  return { session, pay, open };
}
const two: PolicyDecision = { outcome: 'ask', approvers: { roles: ['boss'], quorum: 2 } };
const edited = (eur: number) => ({ kind: 'approve' as const, args: { eur } });

describe('ATK-L3 edits of a call that several people must approve', () => {
  test('two who approve the same edited arguments are enough', async () => {
    const { session, pay } = await asked();
    const { requestId } = await only(session);
    // At once, so that each sees what the model has asked for.
    const came = await Promise.all([
      session.respond(requestId, { ...edited(5), by: a }),
      session.respond(requestId, { ...edited(5), by: b }),
    ]);
    expect(came.map(({ status }) => status)).toEqual(['waiting_quorum', 'settled']);
    await say(session, { kind: 'continue' });
    expect(await session.pending()).toEqual([]);
    expect(pay.runs).toEqual([{ eur: 5 }]);
  });

  test.each([false, true])(
    'an edit is shown to the others, who approve it with one yes more; restarted: %s',
    async (isRestarted) => {
      let { session, pay, open } = await asked();
      const first = await only(session);
      await session.respond(first.requestId, { kind: 'approve', by: a });
      expect(await session.respond(first.requestId, { ...edited(5), by: b })).toMatchObject({
        status: 'waiting_quorum',
      });
      if (isRestarted) session = await open();
      await say(session, { kind: 'continue' });
      expect(pay.runs).toEqual([]);
      const now = await only(session);
      expect(now).toMatchObject({ args: { eur: 5 }, approval: { approvers: { roles: ['boss'], quorum: 2 } } });
      expect(now.requestId).not.toBe(first.requestId);
      // Whoever edited it has said yes to it.
      expect(await session.respond(now.requestId, { kind: 'approve', by: b })).toMatchObject({
        status: 'waiting_quorum',
      });
      expect(await session.respond(now.requestId, { kind: 'approve', by: a })).toMatchObject({ status: 'settled' });
      await say(session, { kind: 'continue' });
      expect(await session.pending()).toEqual([]);
      expect(pay.runs).toEqual([{ eur: 5 }]);
    },
  );

  test('an edit of an edit is asked about once more', async () => {
    const { session, pay } = await asked();
    for (const [eur, by] of [
      [5, a],
      [7, b],
      [5, c],
    ] as const) {
      const { requestId } = await only(session);
      expect(await session.respond(requestId, { ...edited(eur), by })).toMatchObject({ status: 'waiting_quorum' });
      await say(session, { kind: 'continue' });
      expect(await only(session)).toMatchObject({ args: { eur } });
    }
    expect(pay.runs).toEqual([]);
    const { requestId } = await only(session);
    await session.respond(requestId, { kind: 'approve', by: b });
    await say(session, { kind: 'continue' });
    expect(pay.runs).toEqual([{ eur: 5 }]);
  });

  test('a no to what was edited refuses the call', async () => {
    const { session, pay } = await asked();
    await session.respond((await only(session)).requestId, { ...edited(5), by: a });
    await session.respond((await only(session)).requestId, { kind: 'deny', by: b });
    await say(session, { kind: 'continue' });
    expect(await session.pending()).toEqual([]);
    expect(pay.runs).toEqual([]);
  });

  test('an edit that policy wants three for is asked of a third', async () => {
    const three: PolicyDecision = { outcome: 'ask', approvers: { roles: ['boss'], quorum: 3 } };
    const { session, pay } = await asked(({ args }) => (Number(args?.eur) > 100 ? three : two));
    const { requestId } = await only(session);
    await Promise.all([a, b].map((by) => session.respond(requestId, { ...edited(500), by })));
    await say(session, { kind: 'continue' });
    expect(pay.runs).toEqual([]);
    const now = await only(session);
    expect(now).toMatchObject({ args: { eur: 500 }, approval: { approvers: { quorum: 3 } } });
    expect(await session.respond(now.requestId, { kind: 'approve', by: c })).toMatchObject({ status: 'settled' });
    await say(session, { kind: 'continue' });
    expect(pay.runs).toEqual([{ eur: 500 }]);
  });

  test('an edit that policy denies is refused, and the question stays as it is', async () => {
    const { session } = await asked(({ args }) =>
      Number(args?.eur) > 100 ? { outcome: 'deny', reason: 'never' } : two,
    );
    const { requestId } = await only(session);
    expect(await refusal(session.respond(requestId, { ...edited(500), by: a }))).toMatchObject({
      code: 'E_WRONG_ANSWER',
      message: expect.stringContaining('never'),
    });
    expect(await only(session)).toMatchObject({ requestId, args: { eur: 100 } });
  });

  test('arguments as they are shown are no edit', async () => {
    const { session, pay } = await asked();
    const { requestId } = await only(session);
    await session.respond(requestId, { kind: 'approve', by: a });
    expect(await session.respond(requestId, { ...edited(100), by: b })).toMatchObject({ status: 'settled' });
    await say(session, { kind: 'continue' });
    expect(pay.runs).toEqual([{ eur: 100 }]);
  });
});

type Terms = NonNullable<Parameters<typeof hostOf>[1]>;

/** A question about `pay({eur: 5})`, which clerks may approve; what is said of more than 100 is `large`. */
async function small(large: PolicyDecision, options: Terms = {}, first: PolicyDecision = forClerks) {
  const store = new InMemorySessionService();
  const pay = notingTool('pay');
  const policy = policyOf({ pay: ({ args }) => (Number(args?.eur) > 100 ? large : first) });
  const open = async (more: Terms = {}, script: Parameters<typeof bot>[0] = ['done']) => {
    const { host } = hostOf(bot(script), { store, tools: [pay.tool], policy, ...options, ...more });
    return host.open('bot', { sessionId: 's', create: true });
  };
  const session = await open({}, [{ calls: [['pay', { eur: 5 }]] }, 'done']);
  await say(session, 'go');
  return { session, pay, open };
}
const forClerks: PolicyDecision = { outcome: 'ask', approvers: { roles: ['clerk'] } };
const forBosses: PolicyDecision = { outcome: 'ask', approvers: { roles: ['boss'] } };
const nobody: PolicyDecision = { outcome: 'ask' };

describe('ATK2-02 where policy names nobody, those whom the host names decide', () => {
  const approvers = { roles: ['boss'] };

  test('on what somebody else has edited a call to', async () => {
    const { session, pay } = await small(nobody, { approvers });
    await session.respond((await only(session)).requestId, { ...edited(5000), by: clerk });
    await say(session, { kind: 'continue' });
    expect(pay.runs).toEqual([]);
    const now = await only(session);
    expect(now).toMatchObject({ args: { eur: 5000 }, approval: { approvers } });
    expect(await refusal(session.respond(now.requestId, { kind: 'approve', by: clerk }))).toMatchObject({
      code: 'E_NOT_APPROVER',
    });
    await session.respond(now.requestId, { kind: 'approve', by: a });
    await say(session, { kind: 'continue' });
    expect(pay.runs).toEqual([{ eur: 5000 }]);
  });

  test('sibling: with those of a quorum where one of several has edited', async () => {
    const { session, pay } = await small(
      nobody,
      { approvers },
      {
        outcome: 'ask',
        approvers: { roles: ['clerk'], quorum: 2 },
      },
    );
    await session.respond((await only(session)).requestId, { ...edited(5000), by: clerk });
    await say(session, { kind: 'continue' });
    const now = await only(session);
    expect(now.approval?.approvers).toEqual({ roles: ['clerk'], also: [['boss']], quorum: 2 });
    expect(pay.runs).toEqual([]);
  });

  test('sibling: on a call that anybody let run, and a crash has cut off', async () => {
    const { session, pay, open } = await small(nobody, {}, nobody);
    await session.respond((await only(session)).requestId, { kind: 'approve', by: clerk });
    const later = await open({ approvers });
    await say(later, { kind: 'continue' });
    expect(pay.runs).toEqual([]);
    expect(await only(later)).toMatchObject({ approval: { approvers } });
  });
});

describe('ATK2-07 a host’s own approvers hold beside those that a question was put with', () => {
  test.each<[string, Terms, PolicyDecision]>([
    ['another host had named', { approvers: { roles: ['clerk'] } }, nobody],
    ['policy had named', {}, forClerks],
  ])('whom %s', async (_, before, first) => {
    const { pay, open } = await small(nobody, before, first);
    const session = await open({ approvers: { roles: ['boss'] }, policy: policyOf({ pay: nobody }) });
    const now = await only(session);
    expect(now.approval?.approvers).toEqual({ roles: ['clerk'], also: [['boss']] });
    expect(await refusal(session.respond(now.requestId, { kind: 'approve', by: clerk }))).toMatchObject({
      code: 'E_NOT_APPROVER',
    });
    await session.respond(now.requestId, { kind: 'approve', by: { id: 'both', roles: ['clerk', 'boss'] } });
    await say(session, { kind: 'continue' });
    expect(pay.runs).toEqual([{ eur: 5 }]);
  });

  test('sibling: with its quorum, and with nobody named before', async () => {
    const { open } = await small(nobody, {}, nobody);
    const session = await open({ approvers: { notRequester: true, quorum: 2 } });
    expect((await only(session)).approval?.approvers).toEqual({ notRequester: true, quorum: 2 });
  });
});

describe('ATK2-03 a question about what was edited runs out', () => {
  const in2 = (of: PolicyDecision, expiresIn: number): PolicyDecision => ({ ...of, expiresIn });

  test.each([
    [3600, 60],
    [60, 3600],
  ])('when the question before it would (%s s), or the rule for what was edited says (%s s)', async (before, after) => {
    const { session } = await small(in2(forBosses, after), {}, in2(forClerks, before));
    const { requestId, requestedAt } = await only(session);
    await session.respond(requestId, { ...edited(5000), by: clerk });
    await say(session, { kind: 'continue' });
    const now = await only(session);
    expect(now).toMatchObject({ args: { eur: 5000 }, approval: { approvers: { roles: ['boss'] } } });
    expect(Date.parse(now.expiresAt ?? '') - Date.parse(requestedAt)).toBe(60_000);
  });

  test('sibling: when the question before it would where the rule for what was edited says no time, in a later process too', async () => {
    const { session, open } = await small(forBosses, {}, in2(forClerks, 60));
    const { requestId, expiresAt } = await only(session);
    await session.respond(requestId, { ...edited(5000), by: clerk });
    await say(session, { kind: 'continue' });
    expect(await only(session)).toMatchObject({ args: { eur: 5000 }, expiresAt });
    expect(await only(await open())).toMatchObject({ args: { eur: 5000 }, expiresAt });
  });
});

describe('ATK2-09 before_tool hooks see what a person has edited, whoever approves it then', () => {
  /** Blocks what is too much, and notes what it was asked about. */
  function blocking() {
    const asked: unknown[] = [];
    const hooks = {
      supportedHookPoints: () => ['before_tool'],
      fire: async (_: string, { args }: { args: { eur: number } }) => {
        asked.push(args.eur);
        return args.eur > 1000 ? { action: 'block' as const, reason: 'too much' } : undefined;
      },
    };
    return { asked, hooks: hooks as unknown as NonNullable<Terms['hooks']> };
  }

  test.each<[string, PolicyDecision, PolicyDecision, { id: string; roles: string[] }]>([
    ['one of several has edited', two, two, b],
    ['others must decide on', forClerks, forBosses, a],
  ])('what %s', async (_, first, large, second) => {
    for (const [eur, runs] of [
      [5000, []],
      [500, [{ eur: 500 }]],
    ] as const) {
      const { asked, hooks } = blocking();
      const { session, pay } = await small(large, { hooks }, first);
      const by = first === two ? a : clerk;
      await session.respond((await only(session)).requestId, { ...edited(eur), by });
      await say(session, { kind: 'continue' });
      await session.respond((await only(session)).requestId, { kind: 'approve', by: second });
      await say(session, { kind: 'continue' });
      expect(await session.pending()).toEqual([]);
      expect([pay.runs, asked]).toEqual([runs, [5, eur]]);
    }
  });

  test('sibling: in a process that knows of the edit from the log alone, and where it was edited twice', async () => {
    const { hooks, asked } = blocking();
    const { session, pay, open } = await small(two, {}, two);
    await session.respond((await only(session)).requestId, { ...edited(700), by: a });
    await say(session, { kind: 'continue' });
    await session.respond((await only(session)).requestId, { ...edited(5000), by: b });
    await say(session, { kind: 'continue' });
    const later = await open({ hooks });
    await later.respond((await only(later)).requestId, { kind: 'approve', by: c });
    expect(endOf(await say(later, { kind: 'continue' })).reason).toBe('completed');
    expect(pay.runs).toEqual([]);
    expect(asked).toContain(5000);
  });

  test('what was edited and edited back is asked about no more', async () => {
    const { hooks, asked } = blocking();
    const { session, pay } = await small(two, { hooks }, two);
    for (const [eur, by] of [
      [700, a],
      [5, b],
    ] as const) {
      await session.respond((await only(session)).requestId, { ...edited(eur), by });
      await say(session, { kind: 'continue' });
    }
    await session.respond((await only(session)).requestId, { kind: 'approve', by: a });
    await say(session, { kind: 'continue' });
    expect([pay.runs, asked]).toEqual([[{ eur: 5 }], [5]]);
  });
});

describe('what a person has edited, as the next one sees it', () => {
  test('ATK2-02 sibling: whoever may not approve an edit does not edit it back either', async () => {
    const { session, pay } = await small(nobody, { approvers: { roles: ['boss'] } });
    await session.respond((await only(session)).requestId, { ...edited(900), by: clerk });
    await say(session, { kind: 'continue' });
    const { requestId } = await only(session);
    for (const answer of [edited(5), edited(900), { kind: 'deny' as const }]) {
      expect(await refusal(session.respond(requestId, { ...answer, by: clerk }))).toMatchObject({
        code: 'E_NOT_APPROVER',
      });
    }
    await session.respond(requestId, { ...edited(6), by: a });
    await say(session, { kind: 'continue' });
    // By the rule for six it is the clerks' again, whom the boss is none of.
    expect(pay.runs).toEqual([]);
    expect(await only(session)).toMatchObject({ args: { eur: 6 } });
  });

  test('ATK2-03 sibling: of two who must agree the second has no more time than the first had', async () => {
    const { session } = await small({ ...two, expiresIn: 900 }, {}, { ...two, expiresIn: 90 });
    const { requestId, expiresAt } = await only(session);
    await session.respond(requestId, { ...edited(700), by: a });
    await say(session, { kind: 'continue' });
    expect(await only(session)).toMatchObject({ args: { eur: 700 }, expiresAt });
  });

  test('ATK2-09 sibling: a hook that breaks on what was edited lets nothing run', async () => {
    const hooks = {
      supportedHookPoints: () => ['before_tool'],
      fire: async (_: string, { args }: { args: { eur: number } }) => {
        if (args.eur > 5) throw new Error('the limits are away');
      },
    } as unknown as NonNullable<Terms['hooks']>;
    const { session, pay } = await small(forClerks, { hooks, warn: () => {} });
    await session.respond((await only(session)).requestId, { ...edited(50), by: clerk });
    expect(endOf(await say(session, { kind: 'continue' })).reason).toBe('completed');
    expect([pay.runs, await session.pending()]).toEqual([[], []]);
  });
});
