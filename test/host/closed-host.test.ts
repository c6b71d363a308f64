import { expect, test } from 'vitest';
import { InMemorySessionService } from '../../src/index.ts';
import { bot, hostOf, notingTool, only, policyOf, say } from './kit.ts';

const place = { agent: 'bot', userId: 'local', sessionId: 's' };

/** A call that waits for an answer, in the store alone, and hosts over it. */
async function asked() {
  const store = new InMemorySessionService();
  const pay = notingTool('pay');
  const open = () =>
    hostOf(bot([{ calls: [['pay', {}]] }, 'done']), { store, tools: [pay.tool], policy: policyOf({ pay: 'ask' }) });
  const before = open().host;
  const session = await before.open('bot', { sessionId: 's', create: true });
  await say(session, 'pay');
  const { requestId } = await only(session);
  await before.close();
  return { open, requestId, runs: pay.runs };
}

test('ATK10-05 what somebody decides while a host is closed is stored, and runs where somebody works, once', async () => {
  const { open, requestId, runs } = await asked();
  const { host, warnings } = open();
  const deciding = host.approvals.decide(requestId, 'approve', { by: { id: 'local' }, ...place });
  await host.close();
  expect(await deciding).toMatchObject({ status: 'settled' });
  await host.idle();
  expect([runs, warnings]).toEqual([[], []]);
  const { host: next } = open();
  await (await next.recover()).done;
  expect(runs).toHaveLength(1);
  await next.close();
});

test('ATK10-05 a host that is closed while it looks for what is unfinished leaves it to others', async () => {
  const { open, requestId, runs } = await asked();
  const { host: answering } = open();
  const session = await answering.open('bot', { sessionId: 's' });
  await session.respond(requestId, 'approve');
  await answering.close();
  const { host, warnings } = open();
  const recovering = host.recover();
  await host.close();
  await (await recovering).done;
  expect([runs, warnings]).toEqual([[], []]);
  const { host: next } = open();
  await (await next.recover()).done;
  expect(runs).toHaveLength(1);
  await next.close();
});

test('ATK10-05 a turn that is submitted while a host is closed is stored, and runs where somebody works', async () => {
  const store = new InMemorySessionService();
  const open = () => hostOf(bot(['done']), { store });
  const { host, warnings } = open();
  const submitting = host.submit('bot', 'Hello.', { sessionId: 's', create: true });
  await host.close();
  await submitting;
  await host.idle();
  const ends = async () =>
    (await store.get({ app: 'shop', userId: 'local', id: 's' }))?.events.map(({ actions }) => actions.end);
  expect([(await ends())?.filter(Boolean), warnings]).toEqual([[], []]);
  const { host: next } = open();
  await (await next.recover()).done;
  expect((await ends())?.filter(Boolean)).toEqual([{ reason: 'completed' }]);
  await next.close();
});
