import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commentOrString, root, sourceFiles } from '../structure/source.ts';
import { pagePaths, readPage } from './blocks.ts';
import { plainWords } from './plain-words.ts';

/** Pages for people who use the package. What is generated from trials quotes their names; a glossary explains terms. */
const isRead = (page: string): boolean =>
  /^(README|SECURITY|docs\/|examples\/)/.test(page) && !page.startsWith('docs/changing/');
const allowed: Readonly<Record<string, RegExp>> = {
  // Of the team of its own, for people who change the package, as all of docs/changing.
  'docs/ARCHITECTURE.md': /./,
  'docs/rooms.md': /./,
  'docs/interop.md': /./,
  'docs/glossary.md': /^(slots?|folds?|terms|ceiling)$/i,
};

function faultsOf(page: string, markdown: string): string[] {
  const lines = markdown
    .replace(/^ *```[\s\S]*?^ *```$/gm, (block) => '\n'.repeat(block.split('\n').length - 1))
    .replace(/`[^`\n]*`/g, '')
    .split('\n');
  return lines.flatMap((line, at) =>
    plainWords.flatMap(([words, instead]) => {
      const [found] = words.exec(line) ?? [];
      if (found === undefined || allowed[page]?.test(found)) return [];
      return [`${page}:${at + 1}: "${found}"; say ${instead}`];
    }),
  );
}

test('pages use the words of the field', () => {
  expect(
    pagePaths()
      .filter(isRead)
      .flatMap((page) => faultsOf(page, readPage(page))),
  ).toEqual([]);
});

test('words are found in prose, not in code', () => {
  expect(faultsOf('docs/x.md', 'A yes counts.\n\n```ts\nwhoever();\n```\n\n`tells` and who is told.')).toEqual([
    'docs/x.md:1: "A yes"; say an approval',
    'docs/x.md:7: "is told"; say reported, gets, returns',
  ]);
});

/** Texts in a file of src that people may read: of several words, and not written for a machine. */
function textsIn(source: string): { text: string; line: number }[] {
  return [...source.matchAll(commentOrString)].flatMap(({ 0: literal, index }) => {
    // A template within a template ends the first one too early: what is between them is code.
    const isCode = /[;{]\n/.test(literal);
    if (literal.startsWith('/') || isCode || !/\S \S/.test(literal)) return [];
    const text = literal
      .slice(1, -1)
      .replace(/\$\{[^{}]*\}/g, '…')
      .replace(/\w+(\.\w+)+/g, '…');
    return [{ text, line: source.slice(0, index).split('\n').length }];
  });
}

/** What an agent of the conformance kit is told to do and say: no text of ours. */
const isFixture = (text: string): boolean => /\bcx: |^went on$/.test(text);

function faultsOfTexts(path: string, texts: readonly { text: string; line: number }[]): string[] {
  return texts.flatMap(({ text, line }) =>
    plainWords.flatMap(([words, instead]) => {
      const [found] = words.exec(text) ?? [];
      return found === undefined || isFixture(text) ? [] : [`${path}:${line}: "${found}"; say ${instead}`];
    }),
  );
}

test('texts of the command line and of errors use the words of the field', () => {
  const faults = sourceFiles().flatMap(({ path }) =>
    faultsOfTexts(`src/${path}`, textsIn(readFileSync(join(root, 'src', path), 'utf8'))),
  );
  expect(faults).toEqual([]);
});

/** Names that a program can import. */
const published = new Set(
  Object.values(
    JSON.parse(readFileSync(join(root, 'api/names.json'), 'utf8')) as Record<string, { names: string[] }>,
  ).flatMap(({ names }) => names),
);

/** What is said of published names, and of their members. */
function docstringsIn(source: string): { text: string; line: number }[] {
  const declared =
    /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\nexport (?:abstract )?(?:async )?(?:function\*?|class|interface|type|const) (\w+)(?:[\s\S]*?\n\}|.*)/g;
  return [...source.matchAll(declared)].flatMap((found) => {
    if (!published.has(found[2] ?? '')) return [];
    return [...found[0].matchAll(/\/\*\*(?:(?!\*\/)[\s\S])*\*\//g)].map(({ 0: text, index }) => ({
      text: text.replace(/```[\s\S]*?```|`[^`]*`|\{@link [^}]*\}/g, '').replace(/\n \* ?/g, ' '),
      line: source.slice(0, found.index + index).split('\n').length,
    }));
  });
}

test('docstrings of what is published use the words of the field', () => {
  const faults = sourceFiles().flatMap(({ path }) =>
    faultsOfTexts(`src/${path}`, docstringsIn(readFileSync(join(root, 'src', path), 'utf8'))),
  );
  expect(faults).toEqual([]);
});

test('words are found in texts, not in names and comments', () => {
  const source = [
    '// a yes',
    "const judge = 'judge';",
    'fail(`it was told`);',
    "fail('serve: options.ceiling');",
    "say('cx: say went on');",
  ].join('\n');
  expect(faultsOfTexts('src/x.ts', textsIn(source))).toEqual(['src/x.ts:3: "was told"; say reported, gets, returns']);
});
