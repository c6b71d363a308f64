import { describe, expect, test } from 'vitest';
import type { AnyTool } from '../../src/index.ts';
import { bot, hostOf, notingTool, policyOf } from '../host/kit.ts';
import { all, client, serving } from './kit.ts';

async function shop() {
  const tools = ['pay', 'ship'].map((name) => notingTool(name).tool as AnyTool);
  const asks = { outcome: 'ask' as const, approvers: { roles: ['boss'] } };
  const model = bot([
    { calls: [['pay', { amount: 30 }]] },
    'Paid.',
    { calls: [['ship', { to: 'the secret customer' }]] },
    'I leave it.',
    { calls: [['pay', { amount: 50 }]] },
    'Paid.',
  ]);
  const { host } = hostOf(model, { tools, policy: policyOf({ pay: asks, ship: asks }) });
  const server = await serving(host, { operator: ({ id }) => (id === 'olga' ? { users: ['ben'] } : undefined) });
  const [anna, ben, bert, carl, olga] = await Promise.all(
    ['anna', 'ben', 'bert:boss', 'carl:boss', 'olga'].map((token) => client(server, token)),
  );
  /** A turn that asks, and what this approver says to it. */
  const decide = async (who: typeof anna, id: string, approver: typeof anna, word: 'approve' | 'deny') => {
    const session = await who?.open('bot', { sessionId: id, create: true });
    if (session) await all(session.stream('go'));
    const [open] = (await approver?.approvals.list()) ?? [];
    const place = { agent: 'bot', userId: who?.principal.id ?? '', sessionId: id };
    await approver?.approvals.decide(open?.request.requestId ?? '', word, place);
    await host.idle();
    await session?.[Symbol.asyncDispose]();
    return open?.request.requestId ?? '';
  };
  const first = await decide(anna, 'annas', bert, 'approve');
  await decide(anna, 'annas', carl, 'deny');
  await decide(ben, 'bens', bert, 'approve');
  return { server, host, anna, ben, bert, carl, olga, decide, first };
}

type Client = Awaited<ReturnType<typeof client>> | undefined;
const listed = async (who: Client, query = {}) =>
  ((await who?.approvals.decided(query))?.decided ?? []).map(
    ({ tool, action, by, userId }) => `${tool} ${action} ${by} ${userId}`,
  );

const [annasPay, annasShip, bensPay] = ['pay accept bert anna', 'ship decline carl anna', 'pay accept bert ben'];

describe('questions that were decided', () => {
  test('WS-74 each sees what they answered and what was answered in their sessions, newest first; an operator their scope; nobody else any', async () => {
    const { server, anna, ben, bert, carl, olga, first } = await shop();
    expect(await listed(bert)).toEqual([bensPay, annasPay]);
    expect(await listed(carl)).toEqual([annasShip]);
    expect(await listed(anna)).toEqual([annasShip, annasPay]);
    expect(await listed(ben)).toEqual([bensPay]);
    expect(await listed(olga)).toEqual([bensPay]);
    expect(await listed(await client(server, 'eve:boss'))).toEqual([]);
    const all = (await anna?.approvals.decided())?.decided;
    expect(all?.at(-1)).toEqual({
      requestId: first,
      agent: 'bot',
      userId: 'anna',
      sessionId: 'annas',
      tool: 'pay',
      action: 'accept',
      by: 'bert',
      at: expect.any(String),
      ...{ callId: expect.any(String), kind: 'policy', askedAt: expect.any(String) },
      ...{ outcome: 'approved', result: 'succeeded', endedAt: expect.any(String) },
    });
    // What it was about is for who may ask for its outcome.
    expect(JSON.stringify(all)).not.toContain('secret');
  });

  test('WS-74 they are found by user, answer, tool, person, time and words, and come page by page', async () => {
    const { bert, anna } = await shop();
    expect(await listed(bert, { user: 'ben' })).toEqual([bensPay]);
    expect(await listed(anna, { action: 'decline' })).toEqual([annasShip]);
    expect(await listed(anna, { tool: 'pay' })).toEqual([annasPay]);
    expect(await listed(anna, { agent: 'bot' })).toEqual([annasShip, annasPay]);
    expect(await listed(anna, { agent: 'another' })).toEqual([]);
    expect(await listed(anna, { search: 'CARL' })).toEqual([annasShip]);
    expect(await listed(anna, { by: 'bert' })).toEqual([annasPay]);
    expect(await listed(anna, { by: 'ber' })).toEqual([]);
    const [{ at = '' } = {}] = (await anna?.approvals.decided({ by: 'carl' }))?.decided ?? [];
    const later = new Date(Date.parse(at) + 1).toISOString();
    expect(await listed(anna, { by: 'carl', since: at, before: later })).toEqual([annasShip]);
    expect(await listed(anna, { by: 'carl', since: later })).toEqual([]);
    expect(await listed(anna, { by: 'carl', before: at })).toEqual([]);
    await expect(listed(anna, { since: 'soon' })).rejects.toMatchObject({ code: 'E_BAD_INPUT' });
    const { after = '' } = (await anna?.approvals.decided({ limit: 1 })) ?? {};
    expect(await listed(anna, { limit: 1, after })).toEqual([annasPay]);
    expect((await anna?.approvals.decided({ limit: 1, after }))?.after).toBeUndefined();
    await expect(listed(anna, { after: 'no cursor' })).rejects.toMatchObject({ code: 'E_BAD_INPUT' });
  });

  test('WS-74 a session that is gone is not listed', async () => {
    const { anna, bert } = await shop();
    expect(await listed(bert)).toEqual([bensPay, annasPay]);
    await anna?.sessions().delete('annas');
    expect(await listed(bert)).toEqual([bensPay]);
  });
});
