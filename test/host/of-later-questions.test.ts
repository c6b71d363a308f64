import { expect, test } from 'vitest';
import { cacheToolResults } from '../../src/adapters/auto-tools/index.ts';
import { openSqlite } from '../../src/adapters/stores/sql/open-sqlite.ts';
import type { AgentSource, ConfirmationRequest, ReportedRequest } from '../../src/contracts/index.ts';
import { confirmationOf } from '../../src/host/questions/confirmation.ts';
import { fromAgent, InMemorySessionService } from '../../src/index.ts';
import { bot, follow, hostOf, notingTool, only, policyOf, readOnly, refusal, say, tool } from './kit.ts';

test('ATT-25 an answer to a question that its handler has given up is none to the next question of the call', async () => {
  const gaveUp = new AbortController();
  const did: string[] = [];
  const clean = tool('clean', async (_, context) => {
    if (!context.confirmation) {
      did.push(`A ${(await context.elicit?.({ message: 'Delete A?' }, gaveUp.signal))?.action}`);
      return context.requestConfirmation({ hint: 'Go on?' });
    }
    did.push(`B ${(await context.elicit?.({ message: 'Delete B?' }))?.action}`);
    return 'done';
  });
  const { host } = hostOf(bot([{ calls: [['clean', {}]] }, 'done']), { tools: [clean], policy: policyOf({}) });
  const session = await host.open('bot');
  const first = follow(session, 'go');
  const seen = await first.seen('elicitation_request');
  gaveUp.abort();
  await first.ended;
  await session.respond((await only(session)).requestId, { kind: 'approve' });
  const second = follow(session, { kind: 'continue' });
  const now = await second.seen('elicitation_request', ({ message }) => message === 'Delete B?');
  expect(now.requestId).not.toBe(seen.requestId);
  expect(['E_REQUEST_CLOSED', 'E_UNKNOWN_REQUEST']).toContain(
    (await refusal(session.respond(seen.requestId, { kind: 'elicitation', action: 'accept' }))).code,
  );
  await session.respond(now.requestId, { kind: 'elicitation', action: 'decline' });
  await second.ended;
  expect(did).toEqual(['A cancel', 'B decline']);
  await host.close();
});

async function digestOf(asked: ConfirmationRequest) {
  const pay = tool('pay', (_, context) => context.requestConfirmation(asked));
  const { host } = hostOf(bot([{ calls: [['pay', { eur: 5 }]] }, 'done']), { tools: [pay], policy: policyOf({}) });
  const session = await host.open('bot');
  await say(session, 'go');
  const { approval } = await only(session);
  await host.close();
  return approval?.previewDigest;
}

test('ATT-26 an approval is bound to what a handler wants confirmed', async () => {
  const payload = { account: 'savings' };
  const shown = await digestOf({ hint: 'Pay?', payload });
  expect(await digestOf({ hint: 'Pay?', payload: { account: 'savings' } })).toBe(shown);
  expect(await digestOf({ hint: 'Pay?', payload: { account: 'root' } })).not.toBe(shown);
  expect(await digestOf({ hint: 'Pay all?', payload })).not.toBe(shown);
});

test('ATT-26 a confirmation has a number of its own beside those that were put and not answered', () => {
  const decision = { callId: 'c', args: {}, record: {} } as never;
  const request = { questions: [{ requestId: 'c#policy' }, { requestId: 'c#rerun.4' }] } as unknown as ReportedRequest;
  expect(confirmationOf(decision, {}, request).first).toBe(1);
  expect(confirmationOf(decision, {}, { ...request, questions: [] }).first).toBe(0);
});

test('ATT-28 a cached result is for the person whose call had it, whatever others call their sessions', async () => {
  const read: string[] = [];
  const mail = tool(
    'mail',
    (_, { userId }) => {
      read.push(userId);
      return `mail of ${userId}`;
    },
    readOnly,
  );
  const script = () =>
    bot([{ calls: [['mail', {}]] }, 'read', { calls: [['mail', {}]] }, 'read', { calls: [['mail', {}]] }, 'read']);
  const { host } = hostOf(script(), { tools: [mail], policy: policyOf({}), hooks: cacheToolResults() });
  for (const userId of ['anna', 'bob', 'anna']) {
    await say(await host.open('bot', { sessionId: 's1', userId, create: true }), 'read');
  }
  expect(read).toEqual(['anna', 'bob']);
  await host.close();
});

/** The same sessions, which their host does not know for the runtime's own. */
const asForeign = (source: AgentSource): AgentSource => ({
  ...source,
  open: async (...given) => {
    const session = await source.open(...given);
    return new Proxy(session, {
      get(target, key) {
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  },
});

const looksOf = (turns: number) =>
  bot(Array.from({ length: turns }, () => [{ calls: [['look', {}] as const] }, 'done']).flat());

test.each([
  ['memory', 'the host'],
  ['memory', 'another process'],
  ['SQLite', 'the host'],
  ['SQLite', 'another process'],
])('ATK-28 a cached result ends with its session (%s, deleted by %s)', async (kind, by) => {
  const { tool: look, runs } = notingTool('look', readOnly);
  const store = kind === 'SQLite' ? openSqlite(':memory:') : new InMemorySessionService();
  const { host } = hostOf(looksOf(6), { store, tools: [look], policy: policyOf({}), hooks: cacheToolResults() });
  const open = () => host.open('bot', { sessionId: 's', create: true });
  for (let n = 0; n < 4; n++) {
    const session = await open();
    await say(session, 'look');
    await session[Symbol.asyncDispose]();
  }
  expect(runs).toHaveLength(1);
  if (by === 'the host') await host.sessions().delete('s');
  else await store.delete({ app: 'shop', userId: 'local', id: 's' });
  await say(await open(), 'look');
  expect(runs).toHaveLength(2);
  await host.close();
  await store.close();
});

test.each([
  ['an ephemeral session', {}, { ephemeral: true }],
  ['a session of an executor that is not believed', { agents: [asForeign(fromAgent(looksOf(3)))] }, {}],
])('ATK-28 a cached result ends with %s', async (_, extra, options) => {
  const { tool: look, runs } = notingTool('look', readOnly);
  const { host } = hostOf(looksOf(3), {
    tools: [look],
    policy: policyOf({}),
    hooks: cacheToolResults(),
    ...extra,
  });
  for (const reads of [1, 2]) {
    const session = await host.open('bot', { sessionId: 's', create: true, ...options });
    await say(session, 'look');
    await say(session, 'look');
    expect(runs).toHaveLength(reads);
    await session[Symbol.asyncDispose]();
  }
  await host.close();
});

test('ATK2-11 a cached result is for whoever it was for, and as what: not for others whom the same service acts for', async () => {
  const read: unknown[] = [];
  const mail = tool(
    'mail',
    (_, { principal }) => {
      read.push([principal.onBehalfOf, principal.roles]);
      return `mails of ${principal.onBehalfOf}`;
    },
    readOnly,
  );
  const turns = Array.from({ length: 5 }, () => [{ calls: [['mail', {}] as const] }, 'done']).flat();
  const { host } = hostOf(bot(turns), { tools: [mail], policy: policyOf({}), hooks: cacheToolResults() });
  const session = await host.open('bot', { sessionId: 's', create: true });
  for (const who of [
    { onBehalfOf: 'anna' },
    { onBehalfOf: 'kim' },
    { onBehalfOf: 'anna', roles: ['x', 'y'] },
    { onBehalfOf: 'anna', roles: ['y', 'x'] },
    { onBehalfOf: 'anna' },
  ]) {
    await say(session, 'read', { principal: { id: 'service', ...who } });
  }
  expect(read).toEqual([
    ['anna', undefined],
    ['kim', undefined],
    ['anna', ['x', 'y']],
  ]);
  await host.close();
});
