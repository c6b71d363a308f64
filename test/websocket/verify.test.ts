import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { verifySession } from '../../src/adapters/audit/index.ts';
import { openSqlite } from '../../src/entries/stores-sqlite.ts';
import { bot, hostOf, notingTool, policyOf } from '../host/kit.ts';
import { all, client, serving } from './kit.ts';

test('WS-85 the owner of a session has its log checked where the server can; nobody else, and no server without', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-verify-'));
  const store = await openSqlite(join(folder, 'shop.db'));
  onTestFinished(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });
  const app = 'shop';
  const tools = [notingTool('pay').tool];
  const policy = policyOf({ pay: 'allow' });
  const { host } = hostOf(bot([{ calls: [['pay', { amount: 3 }]] }, 'paid']), { store, app, tools, policy });
  const server = await serving(host, {
    verify: ({ userId, sessionId }) => verifySession(store, { app, userId, id: sessionId }),
  });
  const [anna, eve] = [await client(server, 'anna'), await client(server, 'eve')];
  const session = await anna.open('bot', { sessionId: 's', create: true });
  await all(session.stream('hi'));
  const verdict = await session.verify();
  expect(verdict).toMatchObject({ ok: true, faults: [], head: { hash: expect.any(String) } });
  expect(verdict.linked).toBeGreaterThan(0);
  await expect(eve.open('bot', { sessionId: 's' })).rejects.toMatchObject({ code: 'E_SESSION_NOT_FOUND' });
  const without = await serving(hostOf(bot(['hello'])).host);
  const other = await (await client(without, 'anna')).open('bot', { sessionId: 's', create: true });
  await expect(other.verify()).rejects.toMatchObject({ code: 'E_UNSUPPORTED' });
});
