import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, matchesGlob } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from './source.ts';

const architecture = 'docs/ARCHITECTURE.md';
/** One page for each kind of change. */
const changes = readdirSync(join(root, 'docs/changing')).map((name) => `docs/changing/${name}`);
const textOf = (path: string): string => readFileSync(join(root, path), 'utf8');

/** A file or folder that a text names, and the names before and behind it: of functions, types and members there. */
interface Place {
  path: string;
  before: string[];
  behind: string[];
}

/** Places that one row, item or paragraph names. A bare file name lies in the folder of the path before it, or in that path itself. */
function placesIn(block: string): Place[] {
  const places: Place[] = [];
  let folder = '';
  let before: string[] = [];
  const add = (path: string) => {
    const behind: string[] = [];
    places.push({ path, before, behind });
    before = behind;
  };
  for (const [, code = ''] of block.matchAll(/`([^`]+)`/g)) {
    const [, name] = /^(#?[A-Za-z_]\w*)(?:\(.*\))?$/.exec(code) ?? [];
    if (/^(src|test|docs|examples|scripts|spec|bench|site)\/\S+$|^(package|tsconfig)\.json$/.test(code)) {
      add(code);
      folder = /\.\w+$/.test(code) ? dirname(code) : code.replace(/\/$/, '');
    } else if (folder && /^[\w*-]+(\.test)?\.ts$/.test(code)) add(join(folder, code));
    else if (name !== undefined) before.push(name);
  }
  return places;
}

/** Names that stand in none of the files beside which they are written. */
function missingIn(places: readonly Place[]): string[] {
  return places.flatMap(({ path, before, behind }, index) => {
    const own = filesAt(path);
    const beside = [...own, ...filesAt(places[index + 1]?.path ?? '')];
    const lacks = (names: readonly string[], files: readonly string[]) =>
      names.filter((name) => !files.some(isNamedIn(name))).map((name) => `${path}: ${name}`);
    return [...(index === 0 ? lacks(before, own) : []), ...lacks(behind, beside)];
  });
}

/** Rows, items of lists with their further lines, and paragraphs. */
const blocksOf = (markdown: string): string[] => markdown.split(/\n(?=\||- |\d+\. |\n)/);

const entries = ['src', 'test', 'docs', 'examples', 'scripts', 'spec', 'bench', 'site']
  .flatMap((top) => [
    top,
    ...readdirSync(join(root, top), { recursive: true, encoding: 'utf8' }).map((path) => join(top, path)),
  ])
  .filter((path) => !path.includes('node_modules'));

/** Files that a path stands for: itself, those of a folder, those that a glob fits. */
function filesAt(path: string): string[] {
  if (path.includes('*')) return entries.filter((entry) => matchesGlob(entry, path));
  if (!existsSync(join(root, path))) return [];
  if (!statSync(join(root, path)).isDirectory()) return [path];
  return entries.filter(
    (entry) => entry.startsWith(`${path.replace(/\/$/, '')}/`) && statSync(join(root, entry)).isFile(),
  );
}

const isNamedIn = (name: string) => (path: string) => new RegExp(`(?<![\\w#])${name}(?!\\w)`).test(textOf(path));

describe.each([architecture, 'docs/rooms.md', ...changes])('%s', (page) => {
  const blocks = blocksOf(textOf(page)).map(placesIn);

  test('names paths that are there', () => {
    const paths = blocks.flat().map(({ path }) => path);
    expect(paths.filter((path) => filesAt(path).length === 0)).toEqual([]);
  });

  test.runIf(changes.includes(page))('names what stands in the files beside it', () => {
    expect(blocks.flatMap(missingIn)).toEqual([]);
  });
});

test('one look shows a whole page: tools cut longer ones', () => {
  expect(changes.filter((page) => textOf(page).length >= 6_000)).toEqual([]);
  expect(textOf(architecture).length).toBeLessThan(15_000);
});

test('the index has every page of a change, and rows for the rest', () => {
  const index = textOf(architecture);
  expect(changes.filter((page) => !index.includes(`](${page.replace('docs/', '')})`))).toEqual([]);
  expect(blocksOf(index).filter((block) => block.startsWith('| ')).length).toBeGreaterThan(40);
});

test('a file that is named alone is looked for beside the one before it, a name in it', () => {
  const row = '| x | `src/a/b.ts` (`word`), `c.ts`: `f(x)`, `#g`; `npm run x`, `test/d`, `e.test.ts`, `src/*/*f.ts` |';
  expect(placesIn(row).map(({ path, before, behind }) => [path, before, behind])).toEqual([
    ['src/a/b.ts', [], ['word']],
    ['src/a/c.ts', ['word'], ['f', '#g']],
    ['test/d', ['f', '#g'], []],
    ['test/d/e.test.ts', [], []],
    ['src/*/*f.ts', [], []],
  ]);
  expect(blocksOf('a `x`\n- b\n  c\n\nd').map((block) => block.trim())).toEqual(['a `x`', '- b\n  c', 'd']);
});

test('a name that stands in neither of the files beside it is missing', () => {
  const [from, to] = ['test/structure/source.ts', 'test/structure/rooms.ts'];
  expect(missingIn(placesIn(`\`${from}\`: \`importsOf(code)\`, \`room\` of \`${to}\`: \`importsOf\``))).toEqual([
    `${to}: importsOf`,
  ]);
});
