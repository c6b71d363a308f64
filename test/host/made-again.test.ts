import { describe, expect, test } from 'vitest';
import { openSqlite } from '../../src/adapters/stores/sql/open-sqlite.ts';
import type { AgentSession, SessionInput } from '../../src/contracts/index.ts';
import { InMemorySessionService } from '../../src/index.ts';
import { bot, endOf, firstOf, hostOf, notingTool, only, policyOf, refusal, say } from './kit.ts';

const stores = { memory: () => new InMemorySessionService(), SQLite: () => openSqlite(':memory:') };
const key = { app: 'shop', userId: 'local', id: 's' };
const asks = policyOf({ pay: 'ask' });

describe.each(['memory', 'SQLite'] as const)('a session in %s that was deleted and made again', (kind) => {
  const uses: [string, (old: AgentSession, requestId: string) => Promise<unknown>][] = [
    ['an answer', (old, requestId) => old.respond(requestId, { kind: 'approve' })],
    ['a no', (old, requestId) => old.respond(requestId, { kind: 'deny' })],
    ['words', (old) => firstOf(old, 'hello')],
    ['going on', (old) => firstOf(old, { kind: 'continue' })],
    ['a steer', (old) => old.steer({ content: 'quick' })],
    ['an update', (old) => old.update({ permissionMode: 'plan' })],
    ['a look', (old) => old.pending()],
    ['an abort', (old) => old.abort()],
  ];
  test.each(uses)('SOAK-5 is not reached by %s through a handle of the one before it', async (_, use) => {
    for (const turns of [1, 3]) {
      const store = stores[kind]();
      const { tool, runs } = notingTool('pay');
      const first = hostOf(bot([{ calls: [['pay']] }, 'paid']), { store, tools: [tool], policy: asks });
      const old = await first.host.open('bot', { sessionId: 's', create: true });
      await say(old, 'go');
      const { requestId } = await only(old);
      await store.delete(key);
      const second = hostOf(bot(['one', 'two', 'three']), { store, tools: [tool], policy: asks });
      const made = await second.host.open('bot', { sessionId: 's', create: true });
      for (let n = 0; n < turns; n++) expect(endOf(await say(made, 'hi')).reason).toBe('completed');
      const before = JSON.stringify((await store.get(key))?.events);
      expect((await refusal(use(old, requestId))).code).toBe('E_SESSION_CONFLICT');
      expect(JSON.stringify((await store.get(key))?.events)).toBe(before);
      expect(runs).toEqual([]);
      await Promise.all([first.host.close(), second.host.close()]);
      await store.close();
    }
  });
});

test.each([
  ['tool_approval', (requestId: string) => ({ kind: 'tool_approval', requestId, remember: 0 })],
  [
    'elicitation_response',
    (requestId: string) => ({ kind: 'elicitation_response', requestId, response: { action: 'accept' }, remember: 0 }),
  ],
  [
    'elicitation_response, in its response',
    (requestId: string) => ({ kind: 'elicitation_response', requestId, response: { action: 'accept', remember: 0 } }),
  ],
])('SOAK-5 always, said in an input of a stream (%s), is refused and not passed over', async (_, made) => {
  const { tool, runs } = notingTool('pay');
  const { host } = hostOf(bot([{ calls: [['pay']] }, 'paid']), { tools: [tool], policy: asks });
  const session = await host.open('bot', { sessionId: 's', create: true });
  await say(session, 'go');
  const { requestId } = await only(session);
  const refused = await refusal(firstOf(session, made(requestId) as SessionInput));
  expect([refused.code, refused.message]).toEqual(['E_BAD_INPUT', expect.stringContaining('remember')]);
  expect([runs, (await session.pending()).length]).toEqual([[], 1]);
  await host.close();
});
