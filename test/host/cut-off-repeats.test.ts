import { expect, test } from 'vitest';
import { all, bot, door, hostOf, policyOf, say, slowTool } from './kit.ts';

const repeats = { annotations: { idempotent: true } };
const wordsOf = (audit: readonly { outcome: string; result?: readonly object[] }[]) =>
  audit.map(({ outcome, result = [] }) => [outcome, ...result.map((part) => (part as { text?: string }).text)]);

test('ATK10-02 a tool that may run again and runs when its turn is aborted is not said to have never run', async () => {
  const pay = slowTool('pay', repeats);
  const { host } = hostOf(bot([{ calls: [['pay', {}]] }, 'done']), { tools: [pay.tool], policy: policyOf({}) });
  const session = await host.open('bot', { sessionId: 's', create: true });
  const ended = all(session.stream('go'));
  await pay.started;
  await session.abort();
  await ended;
  expect(wordsOf(await host.audit('s'))).toEqual([
    ['cancelled', 'cancelled (aborted): it may have run, its effects are unknown'],
  ]);
  pay.finish('paid');
  await host.close();
});

test('ATK10-02 one that waits for a person has never run, and says so', async () => {
  const pay = slowTool('pay', repeats);
  const policy = policyOf({ pay: { outcome: 'ask' } });
  const { host } = hostOf(bot([{ calls: [['pay', {}]] }, 'new']), { tools: [pay.tool], policy });
  const session = await host.open('bot', { sessionId: 's', create: true });
  await say(session, 'go');
  await say(session, 'Something else.');
  expect(wordsOf(await host.audit('s'))).toEqual([['cancelled', 'cancelled (a new message came): it never ran']]);
  await host.close();
});

test('ATK10-02 nor is one that a handler is asked about when its turn is aborted said to have run', async () => {
  const pay = slowTool('pay', repeats);
  const asked = door();
  const { host } = hostOf(bot([{ calls: [['pay', {}]] }, 'new']), {
    tools: [pay.tool],
    policy: policyOf({ pay: { outcome: 'ask' } }),
    onApproval: () => {
      asked.open();
      return new Promise<undefined>(() => {});
    },
  });
  const session = await host.open('bot', { sessionId: 's', create: true });
  const ended = all(session.stream('go'));
  await asked.opened;
  await session.abort();
  await ended;
  expect(wordsOf(await host.audit('s'))).toEqual([['cancelled', 'cancelled (aborted): it never ran']]);
  await host.close();
});
