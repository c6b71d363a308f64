import { cutText } from './text-files.ts';

/** Lines of a page unless asked otherwise, and at most. */
export const PAGE_LINES = 200;
export const MAX_PAGE_LINES = 1000;
/** Characters of a page; a page ends with the line that reaches this. */
const MAX_PAGE_CHARS = 30_000;
/** Characters of one line. */
const MAX_LINE_CHARS = 10_000;

export interface Page {
  /** First and last line, counted from 1. */
  from: number;
  to: number;
  total: number;
  /** Exactly as stored, unless `cut`. */
  text: string;
  /** A line was too long and is not here as a whole. */
  cut: boolean;
}

/** The lines of a text with their ends. A line ends with a line feed; a carriage return before it belongs to it. */
export function linesOf(text: string): string[] {
  const lines = text.split('\n').map((line) => `${line}\n`);
  const last = lines.pop()!.slice(0, -1);
  return last === '' ? lines : [...lines, last];
}

/**
 * One page of a file for a model: a heading, each line with its number and a tab, then notes in brackets.
 * @throws Error if `offset` is past the end
 */
export function formatPage(path: string, text: string, offset: number, limit: number): string {
  const lines = linesOf(text);
  if (lines.length === 0) return `${path}: empty file, no lines`;
  if (offset > lines.length) throw new Error(`${path} has ${lines.length} lines; offset ${offset} is past the end.`);
  const body: string[] = [];
  const notes: string[] = [];
  let chars = 0;
  let to = offset - 1;
  while (to < lines.length && body.length < limit && chars < MAX_PAGE_CHARS) {
    const line = lines[to++]!.replace(/\n$/, '');
    const shown = cutText(line, MAX_LINE_CHARS);
    if (shown !== line) notes.push(`[line ${to} is cut: ${shown.length} of ${line.length} characters]`);
    body.push(`${to}\t${shown}`);
    chars += shown.length;
  }
  if (to < lines.length) notes.push(`[${lines.length - to} more: read_file with offset ${to + 1}]`);
  else if (!text.endsWith('\n')) notes.push('[no line feed at the end of the file]');
  return [`${path}: lines ${offset}-${to} of ${lines.length}`, ...body, ...notes].join('\n');
}

/** Reads what {@link formatPage} wrote; undefined if it is something else. */
export function parsePage(formatted: string): Page | undefined {
  const [heading = '', ...rest] = formatted.split('\n');
  if (heading.endsWith(': empty file, no lines')) return { from: 1, to: 0, total: 0, text: '', cut: false };
  const numbers = /: lines (\d+)-(\d+) of (\d+)$/.exec(heading);
  if (numbers === null) return undefined;
  const [from = 0, to = 0, total = 0] = numbers.slice(1).map(Number);
  const body = rest.slice(0, to - from + 1);
  const notes = rest.slice(body.length);
  if (body.some((line, index) => !line.startsWith(`${from + index}\t`)) || body.length !== to - from + 1)
    return undefined;
  const text = body.map((line) => line.slice(line.indexOf('\t') + 1)).join('\n');
  const open = notes.includes('[no line feed at the end of the file]');
  return { from, to, total, text: open ? text : `${text}\n`, cut: notes.some((note) => note.startsWith('[line ')) };
}
