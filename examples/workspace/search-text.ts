import type { AnyTool } from 'coxswain';
import { defineTool } from 'coxswain';
import { locateExisting, showPath } from './confine.ts';
import type { LineMatch } from './line-matcher.ts';
import { lineMatcher, MAX_TESTED_CHARS } from './line-matcher.ts';
import { cutText, readText, UnreadableFile } from './text-files.ts';
import { MAX_VISITED, walk } from './walk.ts';

const MAX_MATCHES = 200;
/** Characters of a line that are shown, and how many of them come before the match. */
const MAX_SHOWN_CHARS = 240;
const CHARS_BEFORE = 60;

interface SearchArgs {
  query: string;
  path?: string;
  regex?: boolean;
  ignoreCase?: boolean;
}

export function searchText(root: string): AnyTool {
  return defineTool({
    name: 'search_text',
    description:
      'Finds the lines of the workspace that contain a text, as file:line: text. Leaves out .git, node_modules, ' +
      `binary files and links. Shows at most ${MAX_MATCHES} lines and counts the rest.`,
    kind: 'search',
    annotations: { readOnly: true, idempotent: true },
    inputSchema: {
      type: 'object',
      additionalProperties: false,
      required: ['query'],
      properties: {
        query: { type: 'string', minLength: 1, description: 'One line of text, or a JavaScript regular expression.' },
        path: { type: 'string', description: 'Folder or file to search. Default: the whole workspace.' },
        regex: { type: 'boolean', description: 'The query is a regular expression. Default false.' },
        ignoreCase: { type: 'boolean', description: 'Default false.' },
      },
    },
    async execute(args, { signal }) {
      const { query, path = '.', regex = false, ignoreCase = false } = args as unknown as SearchArgs;
      const matcher = lineMatcher(query, { regex, ignoreCase });
      const { files, capped } = await walk(await locateExisting(root, path), signal);
      const shown: string[] = [];
      let matches = 0;
      let filesWithMatches = 0;
      let searched = 0;
      let large = 0;
      for (const file of files) {
        signal.throwIfAborted();
        if (file.link) continue;
        const text = await readText(file).then(
          (read) => read.text,
          (error: unknown) => {
            if (!(error instanceof UnreadableFile)) throw error;
            if (error.why === 'large') large++;
            return undefined;
          },
        );
        if (text === undefined) continue;
        searched++;
        const lines = text.split(/\r?\n/);
        const found = matcher.match(lines);
        if (found.length > 0) filesWithMatches++;
        matches += found.length;
        for (const match of found.slice(0, MAX_MATCHES - shown.length)) {
          shown.push(`${showPath(file.path)}:${match.line + 1}: ${excerpt(lines[match.line]!, match)}`);
        }
      }
      const counted = `${count(matches, 'match', 'matches')} in ${count(filesWithMatches, 'file', 'files')}`;
      if (matches === 0) shown.push(`[no match in ${count(searched, 'file', 'files')}]`);
      else if (shown.length < matches)
        shown.push(`[first ${shown.length} of ${counted}: narrow it with path or query]`);
      else shown.push(`[${counted}]`);
      if (matcher.shortened > 0) {
        shown.push(`[${matcher.shortened} long lines: only their first ${MAX_TESTED_CHARS} characters were searched]`);
      }
      if (large > 0) shown.push(`[${count(large, 'file was', 'files were')} too large to search]`);
      if (capped) shown.push(`[stopped after ${MAX_VISITED} entries: there are more]`);
      return shown.join('\n');
    },
  });
}

/** The part of a long line that holds the match. */
function excerpt(line: string, match: LineMatch): string {
  if (line.length <= MAX_SHOWN_CHARS) return line;
  const from = match.at > MAX_SHOWN_CHARS - CHARS_BEFORE ? cutText(line, match.at - CHARS_BEFORE).length : 0;
  const part = cutText(line.slice(from), MAX_SHOWN_CHARS);
  return `${from > 0 ? '…' : ''}${part}${from + part.length < line.length ? '…' : ''}`;
}

function count(n: number, one: string, many: string): string {
  return `${n} ${n === 1 ? one : many}`;
}
