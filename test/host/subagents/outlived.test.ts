import { expect, test } from 'vitest';
import { InMemorySessionService } from '../../../src/index.ts';
import type { Script } from '../../../src/testing/index.ts';
import { all, endOf, follow, notingTool, ofType, policyOf, results, say, slowTool } from '../kit.ts';
import { askExpert, team } from './kit.ts';

test.each([
  { title: 'under the same host', restarts: false },
  { title: 'under a new host each time', restarts: true },
])(
  'S3-56 a sub-agent that has outlived its caller’s turn asks again, $title: its question is shown, its answer goes on',
  async ({ restarts }) => {
    const pay = notingTool('pay');
    const store = new InMemorySessionService();
    const hostWith = (boss: readonly Script[], expert: readonly Script[]) =>
      team({ boss, expert, store, tools: [pay.tool], host: { policy: policyOf({ pay: 'ask' }) } });
    const asking: Script[] = [{ calls: [['pay', { n: 1 }]] }, { calls: [['pay', { n: 2 }]] }, 'paid twice'];
    const first = hostWith([askExpert, 'still at it', 'all paid'], asking);
    let session = await first.host.open('boss', { sessionId: 's', create: true });
    /** What is left of the scripts, in a process that knows nothing but the log. */
    const restart = async (expert: readonly Script[]) => {
      if (!restarts) return;
      await session[Symbol.asyncDispose]();
      session = await hostWith(['all paid'], expert).host.open('boss', { sessionId: 's' });
    };
    await say(session, 'pay');
    expect(endOf(await say(session, 'how is it?', { whilePending: 'proceed' }))?.reason).toBe('completed');

    await restart(asking.slice(1));
    const [one] = await session.pending();
    const events = await say(session, { kind: 'tool_approval', requestId: String(one?.requestId) });
    const [two, ...more] = await session.pending();
    expect(more).toEqual([]);
    expect(endOf(events)).toMatchObject({
      reason: 'input_required',
      data: { pending: [{ requestId: two?.requestId }] },
    });
    const asked = events.flatMap((event) => (event.type === 'elicitation_request' ? [event.requestId] : []));
    expect(asked).toEqual([two?.requestId]);
    expect(pay.runs).toEqual([{ n: 1 }]);

    await restart(asking.slice(2));
    // Nothing has changed: it waits.
    expect(endOf(await say(session, { kind: 'continue' }))?.reason).toBe('input_required');
    expect(pay.runs).toEqual([{ n: 1 }]);

    const last = await say(session, { kind: 'tool_approval', requestId: String(two?.requestId) });
    expect(endOf(last)?.reason).toBe('completed');
    expect(pay.runs).toEqual([{ n: 1 }, { n: 2 }]);
    expect(results(last)).toMatchObject({ expert: 'paid twice' });
    expect(await session.pending()).toEqual([]);
  },
);

test('S3-56 what was asked in a call that outlives the turn and is aborted with it is not open at the end', async () => {
  const slow = slowTool('slow');
  const { host } = team({
    boss: [askExpert, { calls: [['check']] }, 'checked'],
    expert: [{ calls: [['pay']] }, { calls: [['ship'], ['slow']] }],
    tools: [...['pay', 'ship', 'check'].map((name) => notingTool(name).tool), slow.tool],
    host: { policy: policyOf({ pay: 'ask', ship: 'ask', check: 'ask' }) },
  });
  const session = await host.open('boss');
  await say(session, 'go');
  await say(session, 'check it', { whilePending: 'proceed' });
  const approvals = (await session.pending()).map(({ requestId }) => ({ kind: 'tool_approval' as const, requestId }));
  const following = follow(session, approvals);
  await Promise.all([slow.started, following.seen('elicitation_request')]);
  // The turn's own end is stored; who follows live is shown it when the call lets go of the session.
  const hasEnded = async () =>
    (await all(session.events())).some((event) => event.type === 'stream_end' && event.reason === 'completed');
  await expect.poll(hasEnded, { timeout: 20_000 }).toBe(true);
  await session.abort();
  const events = await following.ended;
  expect(ofType(events, 'elicitation_request')).toHaveLength(1);
  const end = endOf(events);
  expect([end.reason, end.data.pending, await session.pending()]).toEqual(['completed', [], []]);
  // Nor is the call itself: that it was interrupted is in the log.
  const closed = ofType(await all(session.events()), 'tool_response').find(({ name }) => name === 'expert');
  expect(closed?.errorType).toBe('interrupted');
});
