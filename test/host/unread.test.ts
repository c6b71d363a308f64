import { expect, test } from 'vitest';
import type { AgentEvent } from '../../src/contracts/index.ts';
import { allowAll } from '../../src/index.ts';
import { all, bot, endOf, hostOf, notingTool, ofType, policyOf, tool } from './kit.ts';

test('ATK3-13 of the progress of a tool that nobody reads the newest is kept, and each stored event', async () => {
  const flood = tool('flood', (_, context) => {
    for (let n = 1; n <= 5_000; n++)
      context.progress({ progress: n, total: 5_000, content: [{ type: 'text', text: 'z'.repeat(1_000) }] });
    return 'done';
  });
  const { host } = hostOf(bot([{ calls: [['flood', {}]] }, 'done']), { tools: [flood], policy: allowAll() });
  const session = await host.open('bot');
  const events: AgentEvent[] = await all(session.stream('go'));
  const updates = ofType(events, 'tool_update').filter(({ seq }) => seq === undefined);
  expect(updates.length).toBeLessThan(80);
  expect(updates.at(-1)).toMatchObject({ progress: 5_000, total: 5_000 });
  expect(ofType(events, 'tool_response')).toHaveLength(1);
  expect(endOf(events).reason).toBe('completed');
  await host.close();
});

test('ATK3-13 sibling: a watcher that does not read holds 1,000 questions, then the watch ends', async () => {
  const pay = notingTool('pay');
  const many = { calls: Array.from({ length: 600 }, () => ['pay', {}] as const) };
  const { host } = hostOf(bot([many, many]), { tools: [pay.tool], policy: policyOf({ pay: { outcome: 'ask' } }) });
  const watched = host.approvals.watch();
  const first = watched.next();
  const ask = async (sessionId: string) => {
    const session = await host.open('bot', { sessionId, create: true });
    await all(session.stream('go'));
    return session;
  };
  const sessions = [await ask('s1'), await ask('s2')];
  expect((await first).value).toMatchObject({ request: { name: 'pay' } });
  let read = 0;
  const rest = async () => {
    for await (const _ of watched) read++;
  };
  await expect(rest()).rejects.toMatchObject({
    code: 'E_TOO_LARGE',
    message: expect.stringContaining('approvals.list()'),
  });
  expect(read).toBe(1_000);
  for (const session of sessions) await session[Symbol.asyncDispose]();
  await host.close();
});
