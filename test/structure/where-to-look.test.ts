import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, matchesGlob } from 'node:path';
import { expect, test } from 'vitest';
import { root } from './source.ts';

const page = readFileSync(join(root, 'docs/ARCHITECTURE.md'), 'utf8');

/** Paths that a text names. A bare file name lies in the folder of the path before it, or in that path itself. */
function namedPaths(text: string): string[] {
  const paths: string[] = [];
  let folder = '';
  for (const [, name = ''] of text.matchAll(/`([^`\s]+)`/g)) {
    if (/^(src|test|docs|examples|scripts|spec)\//.test(name)) {
      paths.push(name);
      folder = /\.\w+$/.test(name) ? dirname(name) : name.replace(/\/$/, '');
    } else if (folder && /^[\w*-]+(\.test)?\.ts$/.test(name)) paths.push(join(folder, name));
  }
  return paths;
}

const entries = ['src', 'test', 'docs', 'examples', 'scripts', 'spec'].flatMap((top) =>
  readdirSync(join(root, top), { recursive: true, encoding: 'utf8' }).map((path) => join(top, path)),
);

function isThere(path: string): boolean {
  return path.includes('*') ? entries.some((entry) => matchesGlob(entry, path)) : existsSync(join(root, path));
}

const rows = page.split('\n').filter((line) => line.startsWith('| '));

test('every path that a row of ARCHITECTURE names is there', () => {
  expect(rows.length).toBeGreaterThan(40);
  expect(rows.flatMap(namedPaths).filter((path) => !isThere(path))).toEqual([]);
});

test('every path that its text names is there', () => {
  const text = page.split('\n').filter((line) => !line.startsWith('| '));
  expect(text.flatMap(namedPaths).filter((path) => !isThere(path))).toEqual([]);
});

test('a file that is named alone is looked for beside the one before it', () => {
  const row = '| x | `src/a/b.ts` (`word`), `c.ts`; `test/d`, `e.test.ts`, `src/*/*f.ts` |';
  expect(namedPaths(row)).toEqual(['src/a/b.ts', 'src/a/c.ts', 'test/d', 'test/d/e.test.ts', 'src/*/*f.ts']);
});
