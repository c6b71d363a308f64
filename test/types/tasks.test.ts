import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'node:util';
import { expect, onTestFinished, test, vi } from 'vitest';
import { others } from './tasks/others.ts';
import { printed } from './tasks/printed.ts';

const folder = join(import.meta.dirname, 'tasks');
const page = 'docs/comparison.md';
const sourceOf = (program: string) => readFileSync(join(folder, program), 'utf8');

/** The sources run here; what is packed and installed is run with every library of schemas by `npm run test:installed`. */
test.each(Object.entries(printed))('%s is a program that runs', async (program, lines) => {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  onTestFinished(() => log.mockRestore());
  await import(join(folder, program));
  expect(log.mock.calls.flatMap((args) => format(...args).split('\n'))).toEqual(lines);
});

test('none of them has a cast or an assertion', () => {
  for (const program of Object.keys(printed)) {
    const bare = sourceOf(program).replaceAll(/'[^'\n]*'|\/\/.*|^import .*/gm, '');
    expect([program, /\bas (?!const\b)|[\w)\]]!(?!=)|\bany\b/.exec(bare)?.[0]]).toEqual([program, undefined]);
    expect(sourceOf(program)).not.toContain('@ts-');
  }
  const all = readdirSync(folder).filter((name) => /^\d/.test(name));
  expect(all.sort()).toEqual(Object.keys(printed).sort());
});

/** Names, numbers, texts and signs: layout and comments count nothing, and a text is one. */
function tokensOf(code: string): number {
  const bare = code.replaceAll(/\/\/.*|\/\*.*?\*\//gs, '');
  return bare.match(/'[^']*'|`[^`]*`|[\w$]+|=>|\.{3}|\?\.|\?\?|[=!]==|&&|\|\||[^\s\w]/g)?.length ?? 0;
}

test('the page has the number of tokens of each task, beside the fewest of the others', () => {
  const rows = Object.keys(printed).map((program) => {
    const [, task = ''] = /\/\/ #region task\n(.*?)\/\/ #endregion/s.exec(sourceOf(program)) ?? [];
    const other = others[program];
    return [tokensOf(task), other ? `${tokensOf(other.code)} (${other.of})` : '–'];
  });
  const table = /\| task \|.*?\n\n/s.exec(readFileSync(join(import.meta.dirname, '../..', page), 'utf8'))?.[0] ?? '';
  const said = table.split('\n').flatMap((line) => {
    const [, ours, theirs] = /^\|[^|]+\| (\d+) \| ([^|]+) \|/.exec(line) ?? [];
    return ours === undefined ? [] : [[Number(ours), theirs]];
  });
  expect(said).toEqual(rows);
});
