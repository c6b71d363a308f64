import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from './source.ts';

const read = (name: string): string => readFileSync(join(root, name), 'utf8');

test('tests run on the Node that the package pins', () => {
  const manifest = JSON.parse(read('package.json')) as { devDependencies: { node: string } };
  // Another version means that the install script of the `node` package did not run.
  expect(process.version).toBe(`v${manifest.devDependencies.node}`);
  expect(process.versions.node.split('.')[0]).toBe('24');
});

test('the lockfile holds no download address', () => {
  expect(read('package-lock.json')).not.toMatch(/"resolved":\s*"[a-z+]+:/);
});

test('every tool is pinned to one exact version', () => {
  const manifest = JSON.parse(read('package.json')) as Record<string, Record<string, string> | undefined>;
  const all = Object.entries({ ...manifest.devDependencies });
  expect(all.filter(([, version]) => !/^(npm:[^@]+@)?\d+\.\d+\.\d+[\w.-]*$/.test(version))).toEqual([]);
});
