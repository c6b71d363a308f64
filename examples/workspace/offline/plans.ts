import type { Plan } from './plan.ts';
import { ask, GiveUp } from './plan.ts';
import type { Matches } from './reading.ts';
import { listFolder, readAll, readPage, searchFor, survey } from './reading.ts';
import { count, fenced, firstWords, matchesAsMarkdown, outline, shorten, tellMatches } from './report.ts';

/** What a request says, by the names of the groups of its rule; quotes are gone. */
export type Words = Partial<Record<string, string>>;

export function* find({ query = '', dir }: Words): Plan {
  return tellMatches(named(query), yield* searchFor(searchArgs(query, dir)), true);
}

export function* findAndWrite({ query = '', dir, file = '' }: Words): Plan {
  // The list of an earlier run would find itself.
  const matches = without(file, yield* searchFor(searchArgs(query, dir)));
  const sofar = tellMatches(named(query), matches, false);
  if (matches.shown.length === 0) return `${sofar}\nThere is nothing to list, so I did not write ${file}.`;
  const content = matchesAsMarkdown(wanted(query), matches);
  yield* ask('write_file', { path: file, content }, { changes: file, sofar });
  return `${sofar}\n\nThe list is in ${file}.`;
}

export function* list({ dir }: Words): Plan {
  const { lines, total } = yield* listFolder(dir);
  const where = dir === undefined ? 'the workspace' : dir;
  return [`${count(total, 'file')} in ${where}:`, ...lines.map((line) => `- ${line}`)].join('\n');
}

export function* read({ file = '', line, all }: Words): Plan {
  if (all !== undefined) {
    const { text, lines } = yield* readAll(file);
    return `${file}, all ${count(lines, 'line')}:\n\n${fenced(text)}`;
  }
  const page = yield* readPage(file, line === undefined ? {} : { offset: Number(line) });
  if (page.total === 0) return `${file} is empty.`;
  const told = `${file}, lines ${page.from} to ${page.to} of ${page.total}:\n\n${fenced(page.text)}`;
  return page.to < page.total ? `${told}\n\nFor more, say: read ${quoted(file)} from line ${page.to + 1}` : told;
}

export function* countLines({ file }: Words): Plan {
  if (file !== undefined) {
    const { total } = yield* readPage(file, { limit: 1 });
    return `${file} has ${count(total, 'line')}.`;
  }
  const { files, total } = yield* listFolder();
  const pages = yield* survey(files, 1);
  const readable = pages.flatMap(({ page }) => (page === undefined ? [] : [page.total]));
  const lines = readable.reduce((sum, n) => sum + n, 0);
  return `${count(lines, 'line')} in ${count(readable.length, 'file')}${readable.length < total ? `, of ${total}; I did not count the others` : ''}.`;
}

export function* countFiles({ dir }: Words): Plan {
  const { total } = yield* listFolder(dir);
  return `There ${total === 1 ? 'is' : 'are'} ${count(total, 'file')} in ${dir ?? 'the workspace'}.`;
}

export function* write({ text = '', file = '' }: Words): Plan {
  yield* ask('write_file', { path: file, content: asLines(text) }, { changes: file });
  return `Wrote ${count(asLines(text).split('\n').length - 1, 'line')} to ${file}.`;
}

export function* append({ text = '', file = '' }: Words): Plan {
  yield* ask('write_file', { path: file, content: asLines(text), append: true }, { changes: file });
  return `Added ${count(asLines(text).split('\n').length - 1, 'line')} to the end of ${file}.`;
}

export function* replace({ old = '', text = '', file = '' }: Words): Plan {
  const { text: before, cut } = yield* readAll(file);
  if (cut) throw new GiveUp(`${file} has lines that are too long for me to read whole, so I did not change it.`);
  const parts = before.split(withBreaks(old));
  if (parts.length === 1) return `${file} does not contain ${quoted(old)}. I did not change it.`;
  yield* ask('write_file', { path: file, content: parts.join(withBreaks(text)) }, { changes: file });
  return `Replaced ${count(parts.length - 1, 'occurrence')} of ${quoted(old)} with ${quoted(text)} in ${file}.`;
}

export function* summarise({ file = '' }: Words): Plan {
  const { text, lines } = yield* readAll(file);
  if (lines === 0) return `${file} is empty.`;
  const words = text.match(/\S+/g)?.length ?? 0;
  const heads = outline(text);
  const start = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  const told = heads.length > 0 ? heads.slice(0, 15) : start.slice(0, 5).map(shorten);
  const intro = heads.length > 0 ? 'Its headings and declarations' : 'Its first lines';
  return [
    `${file} has ${count(lines, 'line')} and ${count(words, 'word')}. ${intro}:`,
    '',
    fenced(told.join('\n')),
    '',
    'I picked these lines by rule; I do not understand what they say.',
  ].join('\n');
}

export function* describe(): Plan {
  const { files, total } = yield* listFolder();
  const told = [`The workspace has ${count(total, 'file')}. How each begins:`];
  const seen = yield* survey(files, 10);
  for (const { path, page } of seen) {
    told.push(
      page === undefined
        ? `- ${path}: not readable as text`
        : `- ${path} (${count(page.total, 'line')}): ${firstWords(page.text)}`,
    );
  }
  if (seen.length < total) told.push(`I looked into ${seen.length} of them.`);
  return told.join('\n');
}

/** `/x/` is a regular expression; a query without capitals finds both cases. */
function searchArgs(query: string, dir?: string): Record<string, unknown> {
  const expression = /^\/(.+)\/(i?)$/.exec(query);
  const text = expression?.[1] ?? wanted(query);
  const ignoreCase = expression === null ? text === text.toLowerCase() : expression[2] === 'i';
  return {
    query: text,
    ...(expression === null ? {} : { regex: true }),
    ...(ignoreCase ? { ignoreCase } : {}),
    ...(dir === undefined ? {} : { path: dir }),
  };
}

function without(file: string, { shown, total, notes }: Matches): Matches {
  const kept = shown.filter((match) => match.file !== file.replace(/^(?:\.\/)+/, ''));
  return { shown: kept, total: total - (shown.length - kept.length), notes };
}

/** Files end with a line feed. */
function asLines(text: string): string {
  const lines = withBreaks(text);
  return lines.endsWith('\n') ? lines : `${lines}\n`;
}

function withBreaks(text: string): string {
  return text.replaceAll('\\n', '\n');
}

function named(query: string): string {
  return /^\/.+\/i?$/.test(query) ? query : quoted(wanted(query));
}

/** "TODOs" and "TODO comments" mean TODO. */
function wanted(query: string): string {
  return /^([A-Z]{2,})(?:s| comments?| items?)$/.exec(query)?.[1] ?? query;
}

function quoted(text: string): string {
  return `"${text}"`;
}
