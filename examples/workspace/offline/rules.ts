import { textOfResponse } from './conversation.ts';
import type { Plan } from './plan.ts';
import type { Words } from './plans.ts';
import * as plans from './plans.ts';

export interface Rule {
  /** What it does, as the end of a sentence. */
  title: string;
  /** A request that it understands. */
  example: string;
  match: RegExp;
  plan(words: Words): Plan;
}

/** Characters beyond which a request is not looked at. */
const MAX_REQUEST_CHARS = 20_000;

/** A name without blanks, or in quotes. */
const name = (group: string) => String.raw`(?<${group}>"[^"]+"|'[^']+'|${'`[^`]+`'}|“[^”]+”|\S+?)`;
/** A text in quotes, which may hold quotes itself. */
const text = (group: string, some = '*') => `(?<${group}>".${some}"|'.${some}'|“.${some}”)`;
const everywhere = '(?: in (?:the|this|my|all|every|each) (?:workspace|folder|project|files?))';
const search =
  '(?:find|search|look|grep)(?: for)?(?: every| each| any| all)?(?: the)?' +
  '(?: (?:lines? with|mentions? of|occurrences? of))? ' +
  `(?<query>"[^"]+"|'[^']+'|“[^”]+”|/.+/i?|.+?)(?:${everywhere}| in ${name('dir')})?`;

/** The whole request, whatever its case, blanks and closing marks. */
const says = (pattern: string) => new RegExp(`^(?:${pattern.replaceAll(' ', '\\s+')})[.!?\\s]*$`, 'is');

/** Everything that the offline model understands; the first rule that matches wins. */
export const rules: readonly Rule[] = [
  {
    title: 'searches all files and writes the matches to a file as a Markdown list',
    example: 'find every TODO and write them to todo.md',
    match: says(
      `${search} and (?:write|save|put)(?: them| it| those| the (?:list|results?|matches))? (?:in|to|into) ${name('file')}`,
    ),
    plan: plans.findAndWrite,
  },
  {
    title: 'searches all files, or those of a folder, and counts the matches per file; `/…/` is a regular expression',
    example: 'search for "slipway" in tides',
    match: says(search),
    plan: plans.find,
  },
  {
    title: 'lists the files of the workspace or of a folder',
    example: 'list files in notes',
    match: says(`(?:list|show)(?: me)?(?: all| the)*(?: files)?(?:${everywhere}| (?:in|of|under) ${name('dir')})?`),
    plan: plans.list,
  },
  {
    title: 'shows a whole file, page by page',
    example: 'read all of data/logbook.txt',
    match: says(`(?:read|show|print|open)(?: me)? (?<all>all|the whole)(?: of)? ${name('file')}`),
    plan: plans.read,
  },
  {
    title: 'shows one page of a file',
    example: 'read data/logbook.txt from line 201',
    match: says(
      `(?:read|show|print|open|cat)(?: me)?(?: the file)? ${name('file')}(?: from line (?<line>[1-9]\\d{0,8}))?`,
    ),
    plan: plans.read,
  },
  {
    title: 'counts the lines of a file, or of the first files of the workspace',
    example: 'how many lines are in data/logbook.txt?',
    match: says(
      `how many lines(?: are)?(?: there)?(?: in all| in total)?(?:${everywhere}| (?:in|of|has|does) ${name('file')}(?: has| have)?)?`,
    ),
    plan: plans.countLines,
  },
  {
    title: 'counts the files of the workspace or of a folder',
    example: 'how many files are in notes?',
    match: says(`how many files(?: are)?(?: there)?(?:${everywhere}| (?:in|has|does) ${name('dir')}(?: have)?)?`),
    plan: plans.countFiles,
  },
  {
    title: 'writes a file; `\\n` in the text starts a new line',
    example: 'write "Order new blades" to notes/orders.txt',
    match: says(`(?:write|save|put) ${text('text')} (?:in|to|into) ${name('file')}`),
    plan: plans.write,
  },
  {
    title: 'adds to the end of a file',
    example: 'append "- A bench at the slipway" to notes/ideas.md',
    match: says(`(?:append|add) ${text('text')} to ${name('file')}`),
    plan: plans.append,
  },
  {
    title: 'replaces a text everywhere in a file',
    example: 'replace "latin-1" with "utf-8" in shed.yaml',
    match: says(`replace ${text('old', '+?')} (?:with|by) ${text('text')} in ${name('file')}`),
    plan: plans.replace,
  },
  {
    title: 'lists the files and how each begins',
    example: 'describe the workspace',
    match: says('(?:describe|summari[sz]e|explain) (?:the|this|my) (?:workspace|folder|project)'),
    plan: plans.describe,
  },
  {
    title: 'gives the size of a file and its headings or first lines',
    example: 'summarise docs/safety.md',
    match: says(`(?:summari[sz]e|describe)(?: the file)? ${name('file')}`),
    plan: plans.summarise,
  },
  {
    title: 'says what it can do',
    example: 'help',
    match: says('(?:help(?: me)?|hi|hello|hey|good (?:morning|day|evening)|what can you do|who are you|what are you)?'),
    plan: help,
  },
];

/** The rules as the rows of a Markdown table. */
export function rulesAsMarkdown(): string {
  const rows = rules.map(({ example, title }) => `| \`${example}\` | ${title} |`);
  return ['| say | what it does |', '|---|---|', ...rows].join('\n');
}

export function planFor(request: string): Plan {
  const news = /^The result of the earlier call \S+ to tool (\S+) has come: (\{.*\})$/s.exec(request);
  if (news !== null) return lateResult(news[1]!, news[2]!);
  const wish = withoutCourtesy(request);
  if (wish.length > MAX_REQUEST_CHARS) return apology(`That is too long for me: over ${MAX_REQUEST_CHARS} characters.`);
  for (const rule of rules) {
    const found = rule.match.exec(wish);
    if (found !== null) return rule.plan(unquoted(found.groups ?? {}));
  }
  const shown = wish.length > 100 ? `${[...wish].slice(0, 100).join('')}…` : wish;
  return apology(`I do not understand "${shown}".`);
}

const introduction = 'I am an offline stand-in that follows fixed rules; no language model is at work here.';

// biome-ignore lint/correctness/useYield: a plan that needs no tool
function* help(): Plan {
  return `${introduction} I understand:\n${list()}`;
}

/** Not a wish of the user: how the runtime tells the outcome of a call that was left open. */
// biome-ignore lint/correctness/useYield: a plan that needs no tool
function* lateResult(tool: string, json: string): Plan {
  let response: Record<string, unknown>;
  try {
    response = JSON.parse(json) as Record<string, unknown>;
  } catch {
    response = { content: json };
  }
  const outcome = response.error === undefined ? 'has come back' : 'did not work';
  return `${tool}, which was still open, ${outcome}: ${textOfResponse(response) ?? json}`;
}

// biome-ignore lint/correctness/useYield: a plan that needs no tool
function* apology(reason: string): Plan {
  return `${reason} ${introduction} What I understand:\n${list()}`;
}

function list(): string {
  return rules.map(({ example, title }) => `- ${example}\n  ${title}`).join('\n');
}

function withoutCourtesy(request: string): string {
  return request
    .trim()
    .replace(/^(?:(?:please|now|then|also|and|(?:can|could|would|will) you)[, ]+)+/i, '')
    .replace(/(?:,? (?:please|for me|too|as well|thanks|thank you))+[.!?]*$/i, '');
}

function unquoted(groups: Record<string, string | undefined>): Words {
  const quotes = ['""', "''", '``', '“”'];
  return Object.fromEntries(
    Object.entries(groups).flatMap(([key, value]) => {
      if (value === undefined) return [];
      const bare = value.length > 1 && quotes.includes(value[0]! + value.at(-1)!) ? value.slice(1, -1) : value;
      return [[key, bare]];
    }),
  );
}
