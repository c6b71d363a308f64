import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { rewind } from '../../src/entries/stores.ts';
import { openSqlite } from '../../src/entries/stores-sqlite.ts';
import { bot, door, hostOf, notingTool, policyOf, refusal, slowTool } from '../host/kit.ts';
import { askExpert, team } from '../host/subagents/kit.ts';
import { all, client, serving } from './kit.ts';

async function kept() {
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-rewind-'));
  const store = await openSqlite(join(folder, 'shop.db'));
  onTestFinished(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });
  return store;
}

test('WS-86 the owner takes a session back to where a turn began, by its control; what followed counts no longer, and a turn begins anew', async () => {
  const store = await kept();
  const slow = slowTool('slow');
  const model = bot(['one', 'two', 'three', { calls: [['slow', {}]] }, 'four']);
  const { host } = hostOf(model, { store, app: 'shop', tools: [slow.tool], policy: policyOf({}) });
  const rewound = door();
  const server = await serving(host, {
    rewind: ({ userId, sessionId }, through) => rewind(store, { app: 'shop', userId, id: sessionId }, through),
  });
  const [anna, eve] = [await client(server, 'anna'), await client(server, 'eve')];
  const session = await anna.open('bot', { sessionId: 's', create: true });
  for (const words of ['first', 'second']) await all(session.stream(words));
  const log = await all(session.events());
  const second = log.findLast((event) => event.type === 'message' && event.role === 'user');
  const through = (second?.seq ?? 0) - 1;
  expect((await refusal(session.rewind(through + 1))).code).toBe('E_BAD_INPUT');
  expect((await refusal(session.rewind(-1))).code).toBe('E_BAD_INPUT');
  void (async () => {
    for await (const event of session.watch()) if (event.type === 'custom' && event.kind === 'rewound') rewound.open();
  })();
  await session.rewind(through);
  await rewound.opened;
  await all(session.stream('third'));
  const said = (await all(session.events())).flatMap((event) =>
    event.type === 'message' ? [JSON.stringify(event.content)] : [],
  );
  expect(said.join()).toContain('first');
  expect(said.join()).toContain('third');
  expect(said.join()).not.toContain('second');
  await expect(eve.open('bot', { sessionId: 's' })).rejects.toMatchObject({ code: 'E_SESSION_NOT_FOUND' });
  // Whoever only watches changes nothing.
  const watcher = await (await client(server, 'anna')).open('bot', { sessionId: 's', control: false });
  expect((await refusal(watcher.rewind(0))).code).toBe('E_CONTROL_LOST');
  // While it runs.
  const running = all(session.stream('go'));
  await slow.started;
  expect((await refusal(session.rewind(through))).code).toBe('E_SESSION_BUSY');
  slow.finish('done');
  await running;
});

test('WS-86 a sub-agent’s session is not taken back, and no server does it that was not given how', async () => {
  const store = await kept();
  const taken: unknown[] = [];
  const { host } = team({ boss: [askExpert, 'done'], expert: ['noted'], store, host: { policy: policyOf({}) } });
  const server = await serving(host, { rewind: async (...given) => void taken.push(given) });
  const anna = await client(server, 'anna');
  const session = await anna.open('boss', { sessionId: 's', create: true });
  await all(session.stream('go'));
  const child = (await anna.sessions('boss').list()).find(({ id }) => id !== 's');
  const inner = await anna.open('boss', { sessionId: child?.id ?? '' });
  expect((await refusal(inner.rewind(0))).code).toBe('E_CEILING');
  expect(taken).toEqual([]);
  const without = await serving(hostOf(bot(['hello']), { tools: [notingTool('pay').tool] }).host);
  const other = await (await client(without, 'anna')).open('bot', { sessionId: 's', create: true });
  expect((await refusal(other.rewind(0))).code).toBe('E_UNSUPPORTED');
});

test('ATK8-03 the newest events of a session that was taken back far are those before that, and it is said whether there are older ones', async () => {
  const store = await kept();
  const { host } = hostOf(bot(Array.from({ length: 20 }, (_, n) => `answer ${n}`)), { store });
  const server = await serving(host);
  const anna = await client(server, 'anna');
  const session = await anna.open('bot', { sessionId: 's', create: true });
  for (let n = 0; n < 16; n++) await all(session.stream(`words ${n}`));
  const log = await all(session.events());
  const began = log.filter((event) => event.type === 'message' && event.role === 'user');
  await session[Symbol.asyncDispose]();
  const key = { app: 'shop', userId: 'anna', id: 's' };
  const reopened = async (through: number) => {
    await rewind(store, key, through);
    const again = await anna.open('bot', { sessionId: 's' });
    const left = await all(again.events());
    const page = async (limit: number) => {
      const { events, more } = await again.newest(limit);
      return { events: events.map(({ id }) => id), more };
    };
    const tail = (count: number) => left.slice(-count).map(({ id }) => id);
    const [short, whole] = [await page(4), await page(left.length)];
    await again[Symbol.asyncDispose]();
    return { left, short, whole, tail };
  };
  const first = await reopened((began[3]?.seq ?? 0) - 1);
  expect(first.left.length).toBeGreaterThan(8);
  expect(first.short).toEqual({ events: first.tail(4), more: true });
  expect(first.whole).toEqual({ events: first.tail(first.left.length), more: false });
  // To its beginning: there is nothing but what says so.
  const none = await reopened(0);
  expect(none.short).toEqual({ events: none.tail(1), more: false });
});
