import { describe, expect, test } from 'vitest';
import { verifySession } from '../../src/adapters/audit/verify-session.ts';
import { openSqlite } from '../../src/adapters/stores/sql/open-sqlite.ts';
import type { AgentSession, PermissionMode } from '../../src/contracts/index.ts';
import { InMemorySessionService } from '../../src/index.ts';
import { client, serving } from '../websocket/kit.ts';
import { bot, endOf, hostOf, notingTool, only, say } from './kit.ts';

const stores = { memory: () => new InMemorySessionService(), SQLite: () => openSqlite(':memory:') };

async function cursorsOf(session: AgentSession): Promise<string[]> {
  const found: string[] = [];
  for await (const { cursor } of session.events()) if (cursor !== undefined) found.push(cursor);
  return found;
}

describe.each(['memory', 'SQLite'] as const)('ATK5-02 a copy of an older moment, in %s', (kind) => {
  const shop = (ends = false) => {
    const turn = [{ calls: [['pay'] as [string]] }, ...(ends ? ['done'] : [])];
    const script = ['hello', ...Array.from({ length: 20 }, () => turn).flat()];
    const { tool, runs } = notingTool('pay');
    const store = stores[kind]();
    return { ...hostOf(bot(script), { store, tools: [tool] }), store, runs };
  };

  test.each<[PermissionMode | null, string]>([
    ['default', 'input_required'],
    ['plan', 'completed'],
    [null, 'input_required'],
    ['autonomous', 'completed'],
  ])('has the mode that the session has now (%s), whatever it had then', async (now, reason) => {
    const runsUnasked = now === 'autonomous';
    const { host, store, runs } = shop(reason === 'completed');
    const session = await host.open('bot', { sessionId: 's', create: true });
    await session.update({ permissionMode: 'autonomous', config: { tone: 'kind' } });
    await say(session, 'hi');
    const then = await cursorsOf(session);
    await session.update({ permissionMode: now, config: { tone: 'dry' } });
    // Whatever moment of then it is: each of them is one of a session without limits.
    for (const after of new Set(then)) {
      const copy = await host.open('bot', { sessionId: 's', fork: { after } });
      runs.length = 0;
      expect(endOf(await say(copy, 'pay')).reason).toBe(reason);
      expect(runs).toHaveLength(runsUnasked ? 1 : 0);
      const verified = await verifySession(store, { app: 'shop', userId: 'local', id: copy.id });
      // Nothing in memory is linked.
      expect(verified.ok).toBe(kind === 'SQLite');
    }
    await host.close();
  });

  test('through a connection: what was lent to a session and taken back is not had again by copying it', async () => {
    const { host, runs } = shop();
    const lent = await host.open('bot', { sessionId: 's', create: true, userId: 'anna', principal: { id: 'anna' } });
    await lent.update({ permissionMode: 'autonomous' });
    await say(lent, 'hi');
    const then = await cursorsOf(lent);
    await lent.update({ permissionMode: 'default' });
    await lent[Symbol.asyncDispose]();
    const remote = await client(await serving(host), 'anna');
    const copy = await remote.open('bot', { sessionId: 's', fork: { after: then.at(-1) ?? '' } });
    await say(copy, 'pay');
    expect([(await only(copy)).name, runs]).toEqual(['pay', []]);
  });
});
