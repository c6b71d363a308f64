import { expect, test } from 'vitest';
import { createView } from '../../src/index.ts';
import { bot, hostOf, notingTool, policyOf, say } from './kit.ts';

test('APP-B7 a view shows the arguments that ran beside those that were asked for', async () => {
  const pay = notingTool('pay');
  const { host } = hostOf(bot([{ calls: [['pay', { eur: 80 }]] }, 'done']), {
    tools: [pay.tool],
    policy: policyOf({ pay: 'ask_user' }),
  });
  const session = await host.open('bot');
  await say(session, 'go');
  const [question] = (await session.pending()).filter(({ kind }) => kind !== 'tool');
  await session.respond(question?.requestId ?? '', { kind: 'approve', args: { eur: 60 } });
  await say(session, { kind: 'continue' });
  const view = createView();
  for await (const event of session.events()) view.apply(event);
  expect(pay.runs).toEqual([{ eur: 60 }]);
  expect([...view.toolCalls.values()]).toMatchObject([{ args: { eur: 80 }, argsRun: { eur: 60 }, status: 'done' }]);
});
