import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { declaredNames, root, sourceFiles } from './source.ts';

const page = readFileSync(join(root, 'docs/glossary.md'), 'utf8');
const entries = [...page.matchAll(/`(\w+)` in `src\/([^`]+)`/g)].map(([, name = '', path = '']) => ({ name, path }));
const rows = page.split('\n').filter((line) => /^\| (?!word |-)/.test(line));

test('every row of the glossary names an exported declaration, and its file', () => {
  expect(rows.filter((row) => !/`\w+` in `src\/[^`]+` *\|$|`\w+` in `src\/[^`]+`, `\w+` in/.test(row))).toEqual([]);
  const declared = new Map(sourceFiles().map(({ path, code }) => [path, declaredNames(code)]));
  const wrong = entries.filter(({ name, path }) => !declared.get(path)?.includes(name));
  expect(wrong).toEqual([]);
});

test('a word stands in the glossary once', () => {
  const words = rows.map((row) => row.split('|')[1]?.trim());
  expect(words).toEqual([...new Set(words)]);
  expect(words).toEqual(
    expect.arrayContaining(
      [
        'host',
        'agent',
        'executor',
        'session',
        'turn',
        'step',
        'stream',
        'run',
        'gate',
        'policy',
        'rule',
        'hook',
      ].concat([
        'question',
        'elicitation',
        'approval',
        'answer',
        'call',
        'store',
        'log',
        'event',
        'checkpoint',
        'lease',
      ]),
    ),
  );
});
