import type { Page } from '../page.ts';
import { parsePage } from '../page.ts';
import type { Part } from './plan.ts';
import { ask, GiveUp } from './plan.ts';

const MAX_PAGES = 20;
/** Files that are opened to describe a folder. */
const MAX_SURVEYED = 20;

export interface Match {
  file: string;
  line: number;
  text: string;
}

export interface Matches {
  shown: Match[];
  /** With those that are not shown. */
  total: number;
  /** Remarks of the tool about what it left out. */
  notes: string[];
}

export interface Listing {
  /** Without links. */
  files: string[];
  lines: string[];
  total: number;
}

export function* searchFor(args: Record<string, unknown>): Part<Matches> {
  const text = yield* ask('search_text', args);
  const shown: Match[] = [];
  const notes: string[] = [];
  for (const line of text.split('\n')) {
    const match = /^(.+?):(\d+): (.*)$/s.exec(line);
    if (match !== null) shown.push({ file: match[1]!, line: Number(match[2]), text: match[3]! });
    else if (line.startsWith('[')) notes.push(line.slice(1, -1));
    else throw strange('search_text', text);
  }
  const [counted = '', ...rest] = notes;
  if (!/ in \d+ files?/.test(counted)) throw strange('search_text', text);
  const total = Number(/(\d+) match/.exec(counted)?.[1] ?? 0);
  return { shown, total, notes: rest };
}

export function* listFolder(path?: string): Part<Listing> {
  const text = yield* ask('list_files', path === undefined ? {} : { path });
  const all = text.split('\n');
  const end = all.findLastIndex((line) => /^\[(?:\d+ of )?\d+ files?\b/.test(line));
  if (end < 0) throw strange('list_files', text);
  const lines = all.slice(0, end);
  return {
    lines: [...lines, ...all.slice(end + 1)],
    files: lines.filter((line) => !line.endsWith(' (link)')).map(nameOf),
    total: Number(/(\d+) files?\b/.exec(all[end]!)?.[1]),
  };
}

export function* readPage(path: string, args: { offset?: number; limit?: number } = {}): Part<Page> {
  const text = yield* ask('read_file', { path, ...args });
  const page = parsePage(text);
  if (page === undefined) throw strange('read_file', text);
  return page;
}

/** A whole file, page by page. */
export function* readAll(path: string): Part<{ text: string; lines: number; cut: boolean }> {
  let page = yield* readPage(path, { limit: 1000 });
  let { text, cut } = page;
  const { total } = page;
  for (let pages = 1; page.to < total; pages++) {
    if (pages >= MAX_PAGES) throw new GiveUp(`${path} is too long for me: ${total} lines, of which I read ${page.to}.`);
    page = yield* readPage(path, { offset: page.to + 1, limit: 1000 });
    if (page.total !== total) throw new GiveUp(`${path} changed while I read it. Please ask again.`);
    text += page.text;
    cut ||= page.cut;
  }
  return { text, lines: total, cut };
}

/** The first lines of several files, side by side; no page for those that cannot be read. */
export function* survey(files: string[], limit: number): Part<{ path: string; page: Page | undefined }[]> {
  const some = files.slice(0, MAX_SURVEYED);
  if (some.length === 0) return [];
  const calls = some.map((path) => ({ name: 'read_file', args: { path, limit } }));
  const answers = yield { calls, tolerant: true };
  return some.map((path, index) => {
    const answer = answers[index];
    return { path, page: answer?.status === 'ok' ? parsePage(answer.text) : undefined };
  });
}

function nameOf(line: string): string {
  return line.startsWith('"') ? (JSON.parse(line) as string) : line;
}

function strange(tool: string, text: string): GiveUp {
  return new GiveUp(`I stopped there, because ${tool} answered in a way that I cannot read: ${text.slice(0, 200)}`);
}
