import { expect, test } from 'vitest';
import type { RemoteHost } from '../../../src/adapters/remote/index.ts';
import type { AgentEvent, PolicyEvaluator, Principal } from '../../../src/contracts/index.ts';
import { InMemorySessionService } from '../../../src/index.ts';
import type { Script } from '../../../src/testing/index.ts';
import { all, client, serving } from '../../websocket/kit.ts';
import { notingTool, only, policyOf, say } from '../kit.ts';
import type { Team } from './kit.ts';
import { team } from './kit.ts';

const operator = ({ roles = [] }: Principal) => (roles.includes('support') ? { content: true } : undefined);
const CARD = 'visa-xyz';

const note = notingTool('note');
const pay = notingTool('pay');

/** A session of a team, in a store of its own, and what an operator sees of any of its sessions. */
async function watched(given: Pick<Team, 'boss' | 'expert'>, policy: PolicyEvaluator, words = 'go') {
  const { host } = team({
    ...given,
    tools: [note.tool, pay.tool],
    store: new InMemorySessionService(),
    host: { policy },
  });
  const server = await serving(host, { operator });
  const olga = await client(server, 'olga:support');
  const session = await host.open('boss', { userId: 'anna', sessionId: 's', create: true });
  await say(session, words);
  const list = async () => (await olga.operator?.sessions())?.sessions ?? [];
  const child = (await list()).find(({ id }) => id !== 's');
  return { host, session, olga, child: child?.id ?? 'none', agent: child?.agent ?? 'none' };
}

const seenBy = async (who: RemoteHost, sessionId: string, agent = 'boss'): Promise<AgentEvent[]> => {
  if (!who.operator) throw new Error('no operator');
  return all(who.operator.events({ agent, userId: 'anna', sessionId }));
};
const shown = (events: readonly AgentEvent[]) => JSON.stringify(events);

const asksWith = (args: Record<string, unknown>): Script => ({ calls: [['expert', args]] });
const paysInside: Script[] = [{ calls: [['pay', { amount: 30, card: CARD }]] }, `I have paid with ${CARD}.`];
const hidesInside = policyOf({ pay: { outcome: 'allow', redact: ['/card'] } });
const hidesCall = policyOf({ expert: { outcome: 'allow', redact: ['/card'] } });

test('ATK4-16 what policy hides of the call of a sub-agent is hidden in the session of the sub-agent', async () => {
  const expert: Script[] = [{ text: `I note ${CARD}.`, calls: [['note', { text: `card ${CARD}` }]] }, 'noted'];
  const { olga, child, agent } = await watched(
    { boss: [asksWith({ request: 'pay', card: CARD, pin: '42' }), 'done'], expert },
    hidesCall,
  );
  // The list names the agent that the session is of, which opens no session of this host: it can be looked at by that name.
  expect(agent).toBe('expert');
  const seen = await seenBy(olga, child, agent);
  expect(seen.map(({ type }) => type)).toContain('tool_request');
  expect(shown(seen)).toContain('noted');
  expect(shown(seen)).not.toContain('visa-xyz');
  expect(shown(await seenBy(olga, 's'))).not.toContain('visa-xyz');
});

test('ATK4-16 what is hidden of it is hidden in the words that it was asked with, however short', async () => {
  const hides = policyOf({ expert: { outcome: 'allow', redact: ['/pin'] } });
  const { olga, child, session } = await watched(
    { boss: [asksWith({ request: 'pay', pin: '~7' }), 'done'], expert: ['noted'] },
    hides,
  );
  const own = await all(session.history());
  expect(shown(own)).toContain('~7');
  expect(shown(await seenBy(olga, child))).not.toContain('~7');
});

test('ATK4-16 what policy hides of a call that a sub-agent makes is hidden in what it answers its caller, and what that says then', async () => {
  const { olga, child } = await watched(
    { boss: [asksWith({ request: 'pay' }), `The expert has paid with ${CARD}.`], expert: paysInside },
    hidesInside,
  );
  expect(shown(await seenBy(olga, child))).toContain('"amount":30');
  expect(shown(await seenBy(olga, child))).not.toContain('visa-xyz');
  const seen = shown(await seenBy(olga, 's'));
  expect(seen).toContain('The expert has paid with [redacted].');
  expect(seen).not.toContain('visa-xyz');
});

test('ATK4-16 what one sub-agent was hidden from is hidden in the session of the next, in the same turn', async () => {
  const second = asksWith({ request: `go on, it was ${CARD}` });
  const given = { boss: [asksWith({ request: 'pay' }), second, 'done'], expert: [...paysInside, `Yes, ${CARD}.`] };
  const { olga } = await watched(given, hidesInside);
  const sessions = (await olga.operator?.sessions())?.sessions ?? [];
  expect(sessions).toHaveLength(3);
  for (const { id } of sessions) expect(shown(await seenBy(olga, id))).not.toContain('visa-xyz');
});

test('ATK4-16 what is read on shows nothing either: a sub-agent that is called later, in a session that was looked at before', async () => {
  const { olga, session } = await watched(
    { boss: ['hello', asksWith({ request: 'pay' }), `It was ${CARD}.`], expert: paysInside },
    hidesInside,
  );
  expect(shown(await seenBy(olga, 's'))).toContain('hello');
  await say(session, 'pay now');
  const seen = shown(await seenBy(olga, 's'));
  expect(seen).toContain('It was [redacted].');
  expect(seen).not.toContain('visa-xyz');
});

test('ATK4-16 of copies: what the agents of a copied session did is not to be found, and what they said is not shown', async () => {
  const given = { boss: [asksWith({ request: 'pay' }), `It was ${CARD}.`, 'Later words.'], expert: paysInside };
  const { olga, host, session, child } = await watched(given, hidesInside);
  await using copy = await host.open('boss', { userId: 'anna', sessionId: 's', fork: true });
  await say(copy, 'and now');
  const seen = shown(await seenBy(olga, copy.id));
  expect(seen).toContain('Later words.');
  expect(seen).not.toContain('visa-xyz');
  // A copy of a sub-agent's session is held to the call that it was made for, also when somebody goes on in it.
  await using inner = await host.open('boss', { userId: 'anna', sessionId: child, fork: true });
  expect(shown(await seenBy(olga, inner.id))).toContain('"amount":30');
  await session[Symbol.asyncDispose]();
});

test('ATK4-16 a copy of a sub-agent’s session shows nothing that its caller’s policy hides, also after a turn of its own', async () => {
  const { olga, host, child } = await watched(
    { boss: [asksWith({ request: 'pay', card: CARD }), 'done', 'Own words.'], expert: ['noted'] },
    hidesCall,
  );
  await using copy = await host.open('boss', { userId: 'anna', sessionId: child, fork: true });
  expect(shown(await seenBy(olga, copy.id))).not.toContain('visa-xyz');
  await say(copy, 'Who pays?');
  const seen = shown(await seenBy(olga, copy.id));
  expect(seen).toContain('Own words.');
  expect(seen).not.toContain('visa-xyz');
});

test('ATK4-16 where the session that has called a sub-agent is gone, nothing but facts is shown of it', async () => {
  const { olga, host, session, child } = await watched(
    { boss: [asksWith({ request: 'pay', card: CARD }), 'done'], expert: ['noted'] },
    hidesCall,
  );
  await using copy = await host.open('boss', { userId: 'anna', sessionId: child, fork: true });
  await session[Symbol.asyncDispose]();
  await host.sessions('anna').delete('s');
  const seen = await seenBy(olga, copy.id);
  expect(seen.length).toBeGreaterThan(0);
  expect(shown(seen)).not.toContain('visa-xyz');
  expect(shown(seen)).not.toContain('noted');
});

test('ATK4-16 “why” of a call shows an operator nothing that is hidden of another call of its turn, nor of its caller’s', async () => {
  const policy = policyOf({ expert: { outcome: 'allow', redact: ['/card'] }, note: 'ask' });
  const given = {
    boss: [asksWith({ request: 'pay', card: CARD })],
    expert: [{ calls: [['note', { text: `card ${CARD}` }]] } as Script],
  };
  const { olga, child, session } = await watched(given, policy);
  const { requestId } = await only(session);
  for (const [sessionId, agent] of [
    ['s', 'boss'],
    [child, 'expert'],
  ] as const) {
    const said = await olga.approvals.explain?.(requestId, { agent, userId: 'anna', sessionId });
    expect(said?.decision.outcome).toBe('ask');
    expect(JSON.stringify(said)).not.toContain('visa-xyz');
  }
});
