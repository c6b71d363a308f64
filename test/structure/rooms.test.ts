import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, test } from 'vitest';
import { lintRules, withPicture } from '../../scripts/generate-rooms.ts';
import { directions, exceptions, MAX_FILES, rooms } from './rooms.ts';
import { circlesOf, handedOn, importsOf, partOf, resolveImport, root, sourceFiles } from './source.ts';

const roomOf = (path: string): string => posix.dirname(path).replace(/^\.$/, '');
const place = new Map(rooms.map(({ path }, index) => [path, index]));
const files = sourceFiles().map(({ path, code }) => ({
  path,
  imports: importsOf(code)
    .filter(({ specifier }) => specifier.startsWith('.'))
    .map(({ specifier, how }) => ({ target: resolveImport(path, specifier), how })),
}));

/** Imports between rooms: `from -> to`, with the files that make them. */
const between = new Map<string, { from: string; to: string; files: string[] }>();
for (const { path, imports } of files) {
  for (const { target } of imports) {
    const [from, to] = [roomOf(path), roomOf(target)];
    if (from === to) continue;
    const key = `${from} -> ${to}`;
    if (!between.has(key)) between.set(key, { from, to, files: [] });
    between.get(key)?.files.push(`${path} -> ${target}`);
  }
}

const isUpward = ({ from, to }: { from: string; to: string }) => (place.get(to) ?? -1) > (place.get(from) ?? -1);

describe('rooms', () => {
  test('every file lies in a room of the table, and every room has files', () => {
    const found = [...new Set(files.map(({ path }) => roomOf(path)))];
    expect(found.sort()).toEqual(rooms.map(({ path }) => path).sort());
  });

  test(`no room holds more than ${MAX_FILES} files, but those that are named`, () => {
    const large = rooms.filter(({ path }) => files.filter((file) => roomOf(file.path) === path).length > MAX_FILES);
    expect(large.map(({ path }) => path).sort()).toEqual(exceptions.large.toSorted());
  });

  test('the table itself grants imports of rooms above only', () => {
    const wrong = rooms.flatMap(({ path, imports }, index) =>
      imports.filter((to) => (place.get(to) ?? index) >= index).map((to) => `${path} -> ${to}`),
    );
    expect(wrong).toEqual([]);
  });

  test('parts that must not meet do not: runtime and host, host and adapters', () => {
    const wrong = rooms.flatMap(({ path, imports }) => {
      const part = partOf(`${path}/`);
      const allowed = directions[part];
      if (!allowed) return ['', 'cli', 'embed', 'entries'].includes(part) ? [] : [`${path}: its part has no row`];
      return imports.filter((to) => partOf(`${to}/`) !== part && !allowed.includes(partOf(`${to}/`)));
    });
    expect(wrong).toEqual([]);
  });

  test('no import goes up the table, of values or of types, but those that are named', () => {
    const upward = [...between].filter(([, rooms]) => isUpward(rooms));
    const named = (key: string) => exceptions.upward.includes(key);
    expect(upward.filter(([key]) => !named(key)).flatMap(([, { files }]) => files)).toEqual([]);
    expect(exceptions.upward.filter((key) => !upward.some(([found]) => found === key))).toEqual([]);
  });

  test('a room imports what the table grants it, and the table grants nothing more', () => {
    const granted = new Set(rooms.flatMap(({ path, imports }) => imports.map((to) => `${path} -> ${to}`)));
    const made = [...between].filter(([, rooms]) => !isUpward(rooms));
    expect(made.filter(([key]) => !granted.has(key)).flatMap(([, { files }]) => files)).toEqual([]);
    expect([...granted].filter((key) => !between.has(key))).toEqual([]);
  });

  test('rooms meet through index.ts or a file that an entry hands on, but those that are named', () => {
    const fronts = handedOn();
    const isFront = (target: string) => target === posix.join(roomOf(target), 'index.ts') || fronts.has(target);
    const deep = [...between.values()].flatMap(({ to, files }) =>
      files.filter((file) => !isFront(file.split(' -> ')[1] ?? '')).map((file) => ({ to, file })),
    );
    expect(deep.filter(({ to }) => !exceptions.deep.includes(to)).map(({ file }) => file)).toEqual([]);
    expect(exceptions.deep.filter((room) => !deep.some(({ to }) => to === room))).toEqual([]);
  });

  test('no files import one another in a circle, types included, but in the parts that are named', () => {
    const graph = new Map(
      files.map(({ path, imports }) => [
        path,
        imports.filter(({ how }) => how !== 'dynamic').map(({ target }) => target),
      ]),
    );
    const largest: Record<string, number> = {};
    const wrong = circlesOf(graph).filter((circle) => {
      const part = partOf(circle[0] ?? '');
      largest[part] = Math.max(largest[part] ?? 0, circle.length);
      return circle.length > (exceptions.circles[part] ?? 0);
    });
    expect(wrong).toEqual([]);
    expect(Object.keys(exceptions.circles).filter((part) => !largest[part])).toEqual([]);
  });
});

test('the linter and docs/rooms.md say what the table says: `npm run rooms` writes both', () => {
  const read = (name: string) => readFileSync(join(root, name), 'utf8');
  expect(read('biome.rooms.json')).toBe(lintRules());
  const page = read('docs/rooms.md');
  expect(page).toBe(withPicture(page));
});

describe('the reader of circles', () => {
  test('finds each circle once, whatever leads to it', () => {
    const graph = new Map([
      ['a', ['b']],
      ['b', ['c', 'd']],
      ['c', ['b']],
      ['d', ['e']],
      ['e', ['d', 'outside']],
      ['f', ['a', 'f']],
    ]);
    expect(circlesOf(graph)).toEqual([
      ['b', 'c'],
      ['d', 'e'],
    ]);
  });
});

test('permission modes are listed once: whoever needs them takes them from the contracts', () => {
  const lists = sourceFiles().filter(({ code }) => /\[[^\]]*'auto_edit'[^\]]*'dont_ask'[^\]]*\]/.test(code));
  expect(lists.map(({ path }) => path)).toEqual(['contracts/values/permission-modes.ts']);
});
