import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Child } from '../adapters/processes.ts';
import { startChild } from '../adapters/processes.ts';

let folder: string;
const children: Child[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'coxswain-deadly-'));
});
afterEach(async () => {
  for (const child of children.splice(0)) await child.kill();
  rmSync(folder, { recursive: true, force: true });
});

const start = (task: string): Child => {
  const child = startChild('../nodes/deadly-child.ts', join(folder, 's.db'), task);
  children.push(child);
  return child;
};
const told = /3 programs have died at its turn one after the other and stored nothing/;

test('a turn that kills each program which takes it over is left alone after some of them, and the program lives', async () => {
  // Its own process begins it: the first to die.
  expect(await start('submit').next()).toBe('dies');
  for (let death = 2; death <= 3; death++) expect(await start('work').next()).toBe('dies');
  const fourth = start('work');
  expect(await fourth.next()).toMatch(told);
  expect(await fourth.next()).toBe('left alone 1');
});

test('a start that continues what was cut off does not die at it for ever', async () => {
  expect(await start('submit').next()).toBe('dies');
  let said: string | undefined;
  let starts = 0;
  while (said !== 'recovered 0') {
    const child = start('recover');
    starts++;
    for (let line = await child.next(); line !== undefined; line = await child.next()) said = line;
  }
  expect(starts).toBe(10);
});
