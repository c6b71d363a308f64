import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';

let folder: string;
let left: number | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'coxswain-processes-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
  if (left !== undefined) process.kill(left, 'SIGKILL');
});

test('NODE9-01 a child of a test ends with the process that has started it, also where that one is killed', async () => {
  const script = join(folder, 'child.mjs');
  // It reads nothing, and has something to do for ever.
  writeFileSync(script, `console.log('ready'); setInterval(() => {}, 1000);`);
  const helper = pathToFileURL(join(import.meta.dirname, 'processes.ts')).href;
  const parent = `
    const { startChild } = await import(${JSON.stringify(helper)});
    const child = startChild(${JSON.stringify(relative(import.meta.dirname, script))});
    await child.next();
    console.log(child.pid);
    setInterval(() => {}, 1000);`;
  const killed = spawn(process.execPath, ['--no-warnings', '--input-type=module', '-e', parent], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines = createInterface({ input: killed.stdout })[Symbol.asyncIterator]();
  left = Number((await lines.next()).value);
  expect(left).toBeGreaterThan(0);
  // The child has its parent's stderr: that ends when both are over.
  const over = once(killed.stderr.resume(), 'end');
  killed.kill('SIGKILL');
  await over;
  left = undefined;
});
