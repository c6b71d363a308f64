import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { webhooks } from '../../src/adapters/nodes/index.ts';
import { openSqlite } from '../../src/adapters/stores/sql/open-sqlite.ts';
import { createHost, LlmAgent } from '../../src/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { startChild } from '../adapters/processes.ts';
import { isSigned, receiver, secret } from '../suites/outcomes.ts';

test('OU-10 a program that is killed while it sends is followed by another one: the same message comes again', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-webhook-'));
  const path = join(folder, 's.db');
  // The first one gets no answer.
  const hook = await receiver(0, 204);
  const child = startChild('../nodes/webhook-child.ts', path, hook.url, secret);
  await hook.reached(1);
  await child.kill();
  const store = openSqlite(path);
  const host = createHost({
    app: 'shop',
    userId: 'ann',
    agents: [new LlmAgent({ name: 'bot', model: new ScriptedModel([]) })],
    store,
    outcomes: webhooks({ crm: { url: hook.url, secret, private: true } }),
  });
  await host.recover();
  await hook.reached(2);
  const [first, second] = hook.got;
  expect(second && isSigned(second)).toBe(true);
  expect([second?.headers['webhook-id'], second?.body]).toEqual([first?.headers['webhook-id'], first?.body]);
  await host.close();
  await store.close();
  await hook.close();
  rmSync(folder, { recursive: true, force: true });
});
