import { cutText } from '../text-files.ts';
import type { Match, Matches } from './reading.ts';

const MAX_LINES_TOLD = 20;
const MAX_LINE_CHARS = 120;

export function count(n: number, one: string, many = `${one}s`): string {
  return `${n} ${n === 1 ? one : many}`;
}

export function byFile(matches: Match[]): Map<string, Match[]> {
  return Map.groupBy(matches, (match) => match.file);
}

/** Counts per file; with `lines`, the first matches too. */
export function tellMatches(what: string, { shown, total, notes }: Matches, lines: boolean): string {
  if (shown.length === 0) return [`No line contains ${what}.`, ...notes.map((note) => `(${note})`)].join('\n');
  const files = byFile(shown);
  const told = [`Found ${amount(shown, total)} of ${what} in ${count(files.size, 'file')}:`];
  let left = lines ? MAX_LINES_TOLD : 0;
  for (const [file, found] of files) {
    told.push(`- ${file}: ${found.length}`);
    for (const match of found.slice(0, left)) told.push(`  - line ${match.line}: ${tidy(match.text)}`);
    left = Math.max(0, left - found.length);
  }
  if (lines && shown.length > MAX_LINES_TOLD) told.push(`I show the first ${MAX_LINES_TOLD} lines only.`);
  told.push(...notes.map((note) => `(${note})`));
  return told.join('\n');
}

/** The matches as a Markdown document. */
export function matchesAsMarkdown(title: string, { shown, total }: Matches): string {
  const files = byFile(shown);
  const blocks = [`# ${title}`, `${amount(shown, total)} in ${count(files.size, 'file')}.`];
  for (const [file, found] of files) {
    blocks.push(`## ${file}`, found.map((match) => `- line ${match.line}: ${codeSpan(tidy(match.text))}`).join('\n'));
  }
  return `${blocks.join('\n\n')}\n`;
}

export function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}${text.endsWith('\n') ? '' : '\n'}${fence}`;
}

/** A line that says what a file is about: the first with words, without its markup. */
export function firstWords(text: string): string {
  const line = text.split(/\r?\n/).find((one) => /[\p{L}\p{N}]/u.test(one)) ?? '';
  return shorten(tidy(line));
}

/** Headings and declarations, where a file has them. */
export function outline(text: string): string[] {
  return text
    .split(/\r?\n/)
    .filter((line) => /^(?:#{1,6} |(?:export |async |pub )*(?:def|class|func|function|fn|interface|type) )/.test(line))
    .map((line) => shorten(line.replace(/\s*[:{]\s*$/, '')));
}

export function shorten(line: string): string {
  const short = cutText(line, MAX_LINE_CHARS);
  return short === line ? line : `${short}…`;
}

function amount(shown: Match[], total: number): string {
  return shown.length < total ? `${shown.length} of about ${total} matches` : count(shown.length, 'match', 'matches');
}

/** Without the marks of comments and lists around it. */
function tidy(line: string): string {
  return line
    .trim()
    .replace(/^(?:(?:\/\/+|#+|--|\/\*+|\*+|<!--|-|"""|''')\s*)+/, '')
    .replace(/\s*(?:-->|\*\/|""")$/, '');
}

function codeSpan(text: string): string {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const mark = '`'.repeat(longest + 1);
  const space = longest > 0 ? ' ' : '';
  return `${mark}${space}${text}${space}${mark}`;
}
