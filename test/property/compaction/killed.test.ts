import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { openSqlite } from '../../../src/adapters/stores/sqlite.ts';
import type { Content } from '../../../src/contracts/index.ts';
import { createHost, run } from '../../../src/index.ts';
import { clerk } from './killed-clerk.ts';

test.each([
  ['before the summary', 0],
  ['before the append', 0],
  ['behind the append', 1],
])('CMP-10 killed %s: %i compactions are stored, and one when the turn has come to its end', async (where, stored) => {
  const folder = mkdtempSync(join(tmpdir(), 'compaction-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'log.db');
  const script = join(import.meta.dirname, 'killed-child.ts');
  const child = spawn(process.execPath, ['--no-warnings', script, path, where], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const { value } = await lines.next();
  child.kill('SIGKILL');
  await exited;
  expect(value).toBe(where);

  const store = openSqlite(path);
  const compactions = async () => {
    const record = await store.get({ app: 'shop', userId: 'ann', id: 's' });
    return record?.events.filter(({ actions }) => actions.compacted) ?? [];
  };
  expect(await compactions()).toHaveLength(stored);
  const requests: Content[][] = [];
  let summaries = 0;
  const agents = [clerk(async () => void summaries++, requests)];
  const host = createHost({ app: 'shop', userId: 'ann', agents, store });
  onTestFinished(async () => {
    await host.close();
    await store.close();
  });
  const { reason } = await run(await host.open('clerk', { sessionId: 's' }), { kind: 'continue' });
  expect(reason).toBe('completed');
  expect(await compactions()).toHaveLength(1);
  expect(summaries).toBe(1 - stored);
  expect(JSON.stringify(requests.at(-1))).toContain('They spoke.');
  expect(requests.at(-1)).toHaveLength(2);
});
