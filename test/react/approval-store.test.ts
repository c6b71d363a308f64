import { expect, onTestFinished, test } from 'vitest';
import { approvalStore } from '../../src/entries/client.ts';
import { bot, hostOf, notingTool, policyOf } from '../host/kit.ts';
import { all, client, serving } from '../websocket/kit.ts';

async function asking() {
  const pay = notingTool('pay');
  const { host } = hostOf(bot([{ calls: [['pay', {}]] }, { calls: [['pay', {}]] }, 'done']), {
    tools: [pay.tool],
    policy: policyOf({ pay: 'ask' }),
  });
  const server = await serving(host);
  const session = await (await client(server)).open('bot', { sessionId: 's', create: true });
  await all(session.stream('go'));
  return { pay, host, server, session };
}

function following(store: ReturnType<typeof approvalStore>) {
  onTestFinished(store.subscribe(() => {}));
  return (count: number) => expect.poll(() => store.getSnapshot().approvals.length).toBe(count);
}

test('approvalStore shows what is open, takes an answer for what was shown, and shows the next question', async () => {
  const { pay, server } = await asking();
  const store = approvalStore(client(server));
  const comesTo = following(store);
  await comesTo(1);
  const [first] = store.getSnapshot().approvals;
  if (!first) throw new Error('nothing is open');
  expect([first.agent, first.userId, first.request.name]).toEqual(['bot', 'anna', 'pay']);
  expect(await store.decide(first, { kind: 'approve' })).toMatchObject({ status: 'settled' });
  await expect.poll(() => store.getSnapshot().approvals[0]?.request.requestId).not.toBe(first.request.requestId);
  await comesTo(1);
  expect(pay.runs).toHaveLength(1);
  expect(await store.decide(first, { kind: 'approve' })).toBeUndefined();
  expect(store.getSnapshot().error?.code).toBe('E_UNKNOWN_REQUEST');
});

test('approvalStore: what somebody else has answered leaves the list at the next reading', async () => {
  const { server, session } = await asking();
  const store = approvalStore(client(server), { refreshMs: 20 });
  const comesTo = following(store);
  await comesTo(1);
  const [open] = await session.pending();
  await session.respond(open?.requestId ?? '', { kind: 'deny' });
  await comesTo(0);
});
