import { expect, test } from 'vitest';
import { bot, hostOf, notingTool, policyOf, refusal } from '../host/kit.ts';
import { all, client } from '../websocket/kit.ts';
import { fronting } from './kit.ts';

const roles = new Map<string, string[]>();
const expired = new Set<string>();
const authenticate = ({ token = '' }: { token?: string }) => ({
  principal: { id: token, roles: roles.get(token) ?? [] },
  ...(expired.has(token) ? { expiresAt: 1 } : {}),
});

/** Somebody has asked for what a boss has to approve, and a boss is connected. */
async function asked() {
  roles.clear();
  expired.clear();
  roles.set('bert', ['boss', 'clerk']);
  const pay = notingTool('pay');
  const script = { calls: [['pay', {}]] as [string, object][] };
  const { host } = hostOf(bot([script, 'paid', script, 'paid']), {
    tools: [pay.tool],
    policy: policyOf({ pay: { outcome: 'ask', approvers: { roles: ['boss'] } } }),
  });
  const front = await fronting(host, { authenticate });
  const url = `${front.url}/v1`;
  const anna = await client({ url }, 'anna');
  const session = await anna.open('bot', { sessionId: 's', create: true });
  await all(session.stream('go'));
  const states: string[] = [];
  const bert = await client({ url }, 'bert', { onState: (state) => states.push(state) });
  const [open] = await bert.approvals.list();
  const place = { sessionId: 's', userId: 'anna', agent: 'bot' };
  return { pay, bert, states, requestId: open?.request.requestId ?? '', place };
}

test('ATK9-01 what is asked for over a connection of plain HTTP is decided by the roles that its requests have now', async () => {
  const { bert, requestId, place, pay } = await asked();
  roles.set('bert', ['clerk']);
  const refused = await refusal(bert.approvals.decide(requestId, 'approve', place));
  expect(['E_NOT_APPROVER', 'E_UNKNOWN_REQUEST']).toContain(refused.code);
  expect(pay.runs).toEqual([]);
  // The client has come back by itself, with what it may do now.
  expect([bert.state, bert.principal]).toEqual(['ready', { id: 'bert', roles: ['clerk'] }]);
  // Who gets a role has it from then on.
  roles.set('bert', ['clerk', 'boss']);
  await bert.approvals.decide(requestId, 'approve', place);
});

test('ATK9-01 with the role ends what it had let its client watch; the same roles in another order are the same', async () => {
  const { bert, states } = await asked();
  roles.set('bert', ['clerk', 'boss']);
  expect(await bert.approvals.list()).toHaveLength(1);
  expect(states.splice(0)).toEqual(['connecting', 'ready']);
  roles.set('bert', ['clerk']);
  expect(await bert.approvals.list()).toEqual([]);
  expect(states).toEqual(['waiting', 'connecting', 'ready']);
});

test('ATK9-12 a request whose credentials count no longer is refused, whatever its connection was opened with', async () => {
  const { bert, requestId, place, pay } = await asked();
  expired.add('bert');
  const refused = await refusal(bert.approvals.decide(requestId, 'approve', place));
  expect(refused.code).toBe('E_UNAUTHENTICATED');
  expect([bert.state, pay.runs]).toEqual(['closed', []]);
});
