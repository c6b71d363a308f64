import { expect, test } from 'vitest';
import { bot, hostOf, notingTool, policyOf, say } from './kit.ts';

test('MUT-H10 a session whose id begins like that of another one is no sub-agent of it: both questions are listed and answered', async () => {
  const pay = notingTool('pay');
  const call = { calls: [['pay', {}]] } as const;
  const { host, warnings } = hostOf(bot([call, call, 'paid', 'paid']), {
    tools: [pay.tool],
    policy: policyOf({ pay: 'ask' }),
  });
  for (const sessionId of ['s', 's.1']) {
    await using session = await host.open('bot', { sessionId, create: true });
    await say(session, 'pay');
  }
  const open = await host.approvals.list();
  expect(open.map(({ request }) => request.sessionId).sort()).toEqual(['s', 's.1']);
  for (const { request } of open) {
    const { requestId, sessionId } = request;
    const settlement = await host.approvals.decide(requestId, { kind: 'approve' }, { by: { id: 'local' }, sessionId });
    expect(settlement.status).toBe('settled');
  }
  await host.idle();
  expect([pay.runs.length, await host.approvals.list(), warnings]).toEqual([2, [], []]);
});
