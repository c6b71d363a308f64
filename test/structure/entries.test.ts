import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  apiFolder,
  entryOf,
  namesFile,
  page,
  publicEntries,
  STABILITIES,
  withTable,
} from '../../scripts/generate-api.ts';
import { isCoxswainError } from '../../src/contracts/index.ts';
import { handedOn, publishedEntries, root, sourceFiles } from './source.ts';

const entries = publicEntries();

describe('the entries', () => {
  test('list every name by hand, and do nothing else', () => {
    expect(entries.filter(({ names }) => names.length === 0).map(({ specifier }) => specifier)).toEqual([]);
    expect(entries.flatMap(({ specifier, other }) => other.map((line) => `${specifier}: ${line}`))).toEqual([]);
  });

  test('name nothing twice', () => {
    const twice = entries.flatMap(({ specifier, names }) =>
      names.filter((name, at) => names.indexOf(name) !== at).map((name) => `${specifier}: ${name}`),
    );
    expect(twice).toEqual([]);
  });

  test('have fewer than 350 names in all', () => {
    expect(new Set(entries.flatMap(({ names }) => names)).size).toBeLessThan(350);
  });

  test('have the names that api/names.json says: `npm run api` writes it', () => {
    expect(readFileSync(join(apiFolder, 'names.json'), 'utf8')).toBe(namesFile(entries));
  });

  test('say how stable they are, in their docstring and in docs/entries.md', () => {
    expect(
      entries.filter(({ stability, says }) => !STABILITIES.some((word) => word === stability) || says === ''),
    ).toEqual([]);
    const text = readFileSync(page, 'utf8');
    expect(text).toBe(withTable(text, entries));
  });

  test('lie in src/index.ts and src/entries, and nothing else lies there', () => {
    const paths = [...publishedEntries().values()];
    const there = sourceFiles().map(({ path }) => path);
    expect(there.filter((path) => path.startsWith('entries/')).sort()).toEqual(
      [...paths.filter((path) => path !== 'index.ts'), 'entries/browser.ts'].sort(),
    );
  });

  test('are imported by nothing in src: rooms meet through their fronts', () => {
    expect([...handedOn()].filter((path) => path === 'index.ts' || path.startsWith('entries/'))).toEqual([]);
  });

  test('each have a report', () => {
    const missing = entries.map(({ specifier }) => `${specifier.replaceAll('/', '-')}.api.md`);
    expect(missing.filter((name) => !existsSync(join(apiFolder, name)))).toEqual([]);
  });
});

test('an entry is read as it is written', () => {
  const text = [
    '/**',
    ' * What it is,',
    ' * in two lines.',
    ' * Stability: experimental.',
    ' *',
    ' * @packageDocumentation',
    ' */',
    "export type { A, B as C } from './a.ts';",
    'export {',
    '  d,',
    '  type E,',
    "} from './b.ts';",
    "export * from './c.ts';",
    '// a comment',
    'const f = 1;',
  ].join('\n');
  expect(entryOf('./x/y', text)).toEqual({
    specifier: 'coxswain/x/y',
    stability: 'experimental',
    says: 'What it is, in two lines.',
    names: ['A', 'C', 'E', 'd'],
    values: ['d'],
    other: ["export * from './c.ts';", 'const f = 1;'],
  });
});

test('where there is no Node the main entry has the same values', async () => {
  const [here, elsewhere] = await Promise.all([import('../../src/index.ts'), import('../../src/entries/browser.ts')]);
  expect(Object.keys(elsewhere).sort()).toEqual(Object.keys(here).sort());
});

test('what needs Node says so where there is none, called or constructed', async () => {
  const elsewhere: Record<string, unknown> = await import('../../src/entries/browser.ts');
  const thrown = (name: string, isNew = false): unknown => {
    const absent = elsewhere[name] as () => never;
    try {
      return isNew ? Reflect.construct(absent, []) : absent();
    } catch (error) {
      return isCoxswainError(error) ? [error.code, error.message] : error;
    }
  };
  const said = (name: string) => [
    'E_UNSUPPORTED',
    `${name} needs Node: run it on a server, and let pages use its agents by coxswain/client`,
  ];
  expect(thrown('createHost')).toEqual(said('createHost'));
  expect(thrown('LlmAgent', true)).toEqual(said('LlmAgent'));
});

test('the pages and examples import entries that are there', () => {
  const known = new Set(entries.map(({ specifier }) => specifier));
  const pages = [
    'README.md',
    ...readdirSync(join(root, 'docs')).flatMap((name) => (name.endsWith('.md') ? [`docs/${name}`] : [])),
  ];
  const wrong = pages.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(/from '(coxswain[^']*)'/g)].flatMap(([, name = '']) =>
      known.has(name) ? [] : [`${file}: ${name}`],
    ),
  );
  expect(wrong).toEqual([]);
});
