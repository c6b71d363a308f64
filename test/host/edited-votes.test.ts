import { describe, expect, test } from 'vitest';
import type { PolicyDecision, PolicyRequest } from '../../src/contracts/index.ts';
import { InMemorySessionService } from '../../src/index.ts';
import { bot, hostOf, notingTool, only, policyOf, refusal, say } from './kit.ts';

const boss = (id: string) => ({ id, roles: ['boss'] });
const [a, b, c] = [boss('a'), boss('b'), boss('c')];

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
