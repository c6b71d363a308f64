import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Check, Subject } from './subject.ts';

const page = join(import.meta.dirname, '../../docs/interop.md');
const begin = '<!-- written by npm run interop -->';
const end = '<!-- end -->';

/** Puts what was seen into the page: a row for each subject, in the order of roles and names; the others' rows stay. */
export function writeRows(subject: Subject, checks: readonly Check[]): void {
  const text = readFileSync(page, 'utf8');
  const from = text.indexOf(begin) + begin.length;
  const to = text.indexOf(end);
  const lead = `| ${subject.role} | ${subject.name} |`;
  const rows = text
    .slice(from, to)
    .split('\n')
    .filter((line) => line.startsWith('|') && !line.startsWith(lead))
    .slice(2);
  const versions = Object.entries(subject.packages).map(([name, version]) => `${name} ${version}`);
  const good = checks.filter(({ isOk }) => isOk);
  const bad = checks.filter(({ isOk }) => !isOk).map(({ what, seen }) => `**${what}**: ${seen}`);
  const words = [...good.map(({ what, seen }) => (seen === '' ? what : `${what}: ${seen}`)), ...bad];
  const date = new Date().toISOString().slice(0, 10);
  const cells = [versions.join(', '), date, `${good.length} of ${checks.length}`, words.join('; ')].map(cell);
  const sorted = [...rows, `${lead} ${cells.join(' | ')} |`].sort();
  const head = ['| role | subject | versions | tried on | right | what was seen |', '|---|---|---|---|---|---|'];
  writeFileSync(page, `${text.slice(0, from)}\n\n${[...head, ...sorted].join('\n')}\n\n${text.slice(to)}`);
}

/** One line of a table, whatever was said. */
function cell(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|').trim();
  return line.length > 1_200 ? `${line.slice(0, 1_200)}…` : line;
}
