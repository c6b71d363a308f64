import { expect, test } from 'vitest';
import { pagePaths, readPage } from './blocks.ts';

/** Words that stopped readers, with what the pages say instead. Code is not looked at. */
const plain: readonly (readonly [words: RegExp, instead: string])[] = [
  [/\ba yes\b|\byeses\b/i, 'an approval'],
  [/\b(a|the) no\b(?! \w)/i, 'a denial'],
  [/\b(is|are|was|be) told\b|\btold of\b|\btells?\b/i, 'reported, gets, returns'],
  [/\b(goes|go|going|gone) on\b/i, 'continues, resumes'],
  [/\btaken back\b/i, 'undone'],
  [/\bin the midst of\b/i, 'during'],
  [/\bspeaks?\b/i, 'matches, applies, implements'],
  [/\bbites\b/i, 'takes effect'],
  [/\bfolds?\b/i, 'derived by replaying the log'],
  [/\b(root )?slots?\b/i, 'agent node'],
  [/\bspool\b/i, 'media store'],
  [/\bterms\b/i, 'settings, conditions'],
  [/\bceiling\b/i, 'maximum permissions'],
  [/\bring\b/i, 'replay buffer'],
  [/\bforeign (tool|agent|text)/i, 'third-party'],
  [/\bjudge[sd]?\b/i, 'evaluate, test'],
  [/\bevidence\b/i, 'audit event'],
  [/\banew\b/i, 'again, rebuilt'],
  [/\bcustomary\b/i, 'usual'],
  [/\bhalf-run\b/i, 'partially executed'],
  [/\bmend(s|ed)?\b/i, 'correct'],
  [/\bslip away\b/i, 'typo'],
  [/\bsign of life\b/i, 'heartbeat'],
  [/\bbare floor\b/i, 'baseline'],
  [/\bwhoever\b/i, 'who, by role'],
  [/\bthe batteries\b/i, 'the executors of coxswain/batteries'],
];

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
    plain.flatMap(([words, instead]) => {
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
