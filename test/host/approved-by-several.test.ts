import { expect, test } from 'vitest';
import { openSqlite } from '../../src/adapters/stores/sql/open-sqlite.ts';
import { bot, hostOf, notingTool, only, policyOf, say } from './kit.ts';

const place = { agent: 'bot', userId: 'ann', sessionId: 's' };

/** A call that two have approved, and a host that knows of it from the store alone. */
async function approvedByTwo() {
  const store = openSqlite(':memory:');
  const policy = policyOf({ pay: { outcome: 'ask', approvers: { roles: ['boss'], quorum: 2 } } });
  const model = bot([{ calls: [['pay', { eur: 5 }]] }, 'done']);
  const { host } = hostOf(model, { store, tools: [notingTool('pay').tool], policy });
  const session = await host.open('bot', { userId: 'ann', sessionId: 's', create: true });
  await say(session, 'go');
  const { requestId } = await only(session);
  for (const id of ['bert', 'carl']) {
    const by = id === 'bert' ? { id, roles: ['boss'], onBehalfOf: 'ben' } : { id, roles: ['boss'] };
    await host.approvals.decide(requestId, 'approve', { by, ...place });
  }
  await host.idle();
  await host.close();
  const { host: other } = hostOf(bot([]), { store, tools: [notingTool('pay').tool], policy });
  return {
    host: other,
    requestId,
    async [Symbol.asyncDispose]() {
      await other.close();
      await store.close();
    },
  };
}

test('ATK10-01 the audit names each whose approval counted, and not the last one alone', async () => {
  await using approved = await approvedByTwo();
  const { host, requestId } = approved;
  const [entry] = await host.audit('s', { userId: 'ann' });
  expect(entry?.answers).toMatchObject([
    { requestId, action: 'accept', by: 'bert' },
    { requestId, action: 'accept', by: 'carl' },
  ]);
  expect(entry?.decisions).toMatchObject([{ outcome: 'approved', by: 'user:carl' }]);
});

test('ATK10-01 each of several who have approved sees what came of it, as themselves alone', async () => {
  await using approved = await approvedByTwo();
  const { host, requestId } = approved;
  const seen = async (by: { id: string; onBehalfOf?: string }) => [
    (await host.approvals.outcome(requestId, { by, ...place }))?.call?.outcome,
    (await host.approvals.decided({ by })).decided.map((one) => one.requestId),
  ];
  expect(await seen({ id: 'bert', onBehalfOf: 'ben' })).toEqual(['completed', [requestId]]);
  expect(await seen({ id: 'carl' })).toEqual(['completed', [requestId]]);
  expect(await seen({ id: 'bert' })).toEqual([undefined, []]);
  expect(await seen({ id: 'dora' })).toEqual([undefined, []]);
});
