import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openSqlite } from '../../src/adapters/stores/sqlite.ts';
import { createHost, LlmAgent, run } from '../../src/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';

const child = join(import.meta.dirname, 'follow-alone-child.ts');

function database(): string {
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-follow-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'log.db');
}

describe('a program that does nothing but follow a session lives until its end', () => {
  test('APP-B4 sibling: whose run goes on in it by itself', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['--no-warnings', child, database()]);
    expect(stdout).toBe('followed to its end');
  });

  test('APP-B4 sibling: which another process runs', async () => {
    const path = database();
    const follower = spawn(process.execPath, ['--no-warnings', child, path, 'there']);
    const exited = once(follower, 'exit');
    let said = '';
    const isHere = new Promise<void>((resolve) => {
      follower.stdout.on('data', (data) => {
        said += String(data);
        resolve();
      });
    });
    await Promise.race([isHere, exited]);
    const model = new ScriptedModel(['done']);
    const store = openSqlite(path);
    const host = createHost({ app: 'shop', agents: [new LlmAgent({ name: 'clerk', model })], store: store });
    await run(await host.open('clerk', { sessionId: 'one', create: true }), 'go');
    expect(await exited).toEqual([0, null]);
    expect(said).toBe('here followed to its end');
    await host.close();
    await store.close();
  });
});
