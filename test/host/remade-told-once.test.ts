import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openSqlite } from '../../src/adapters/stores/sql/open-sqlite.ts';
import { ToldOnce } from '../../src/base/told-once.ts';
import { bot, follow, hostOf, policyOf, say, slowTool } from './kit.ts';

test('ATK-L5 a session that was made again under a run is told once, however often it is looked at', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'remade-'));
  const [here, there] = [openSqlite(join(folder, 'log.db')), openSqlite(join(folder, 'log.db'))];
  onTestFinished(async () => {
    await Promise.all([here.close(), there.close()]);
    rmSync(folder, { recursive: true });
  });
  const slow = slowTool('slow');
  const { host, warnings } = hostOf(bot([{ calls: [['slow', {}]] }, 'done']), {
    store: here,
    tools: [slow.tool],
    policy: policyOf({}),
    approvalPollMs: 5,
    followPollMs: 5,
  });
  const session = await host.open('bot', { sessionId: 's', create: true });
  const run = follow(session, 'go');
  await slow.started;
  let looks = 0;
  const get = here.get.bind(here);
  here.get = (...given) => {
    looks++;
    return get(...given);
  };
  await there.delete({ app: 'shop', userId: 'local', id: 's' });
  const other = hostOf(bot(['one', 'two']), { store: there, tools: [], policy: policyOf({}) });
  await say(await other.host.open('bot', { sessionId: 's', create: true }), 'hi');
  await expect.poll(() => looks).toBeGreaterThan(20);
  slow.finish('x');
  await run.ended.catch(() => {});
  const told = warnings.filter((text) => text.includes('what others have answered could not be read'));
  expect(told).toHaveLength(1);
  await Promise.all([host.close(), other.host.close()]);
});

test('ATK-L5 a cause is told again once it was gone, and another one at once', () => {
  const told: string[] = [];
  const warn = (_: string, error: unknown) => told.push(String((error as Error).message));
  const looks = new ToldOnce();
  for (const cause of ['a', 'a', 'b', 'b']) looks.failed(warn, 'x', new Error(cause));
  looks.succeeded();
  looks.failed(warn, 'x', new Error('b'));
  expect(told).toEqual(['a', 'b', 'b']);
});
