import { createContext, Script } from 'node:vm';

/** Characters of a line that a regular expression sees. */
export const MAX_TESTED_CHARS = 2000;
/** Milliseconds that a regular expression may take over all files. */
const REGEX_BUDGET_MS = 1000;

export interface LineMatch {
  /** From 0. */
  line: number;
  /** Where in the line the match starts. */
  at: number;
}

export interface LineMatcher {
  match(lines: string[]): LineMatch[];
  /** Lines of which only the beginning was tested. */
  readonly shortened: number;
}

/** @throws Error if the expression is not valid; `match` throws if it takes too long */
export function lineMatcher(query: string, options: { regex: boolean; ignoreCase: boolean }): LineMatcher {
  if (query === '') throw new Error('The query is empty.');
  if (/[\r\n]/.test(query)) throw new Error('The query must be one line: lines are searched one by one.');
  return options.regex ? expressionMatcher(query, options.ignoreCase) : wordMatcher(query, options.ignoreCase);
}

function wordMatcher(query: string, ignoreCase: boolean): LineMatcher {
  const fold = (text: string) => (ignoreCase ? text.toLowerCase() : text);
  const wanted = fold(query);
  return {
    shortened: 0,
    match: (lines) =>
      lines.map((text, line) => ({ line, at: fold(text).indexOf(wanted) })).filter((found) => found.at >= 0),
  };
}

// Short lines do not make an expression harmless: (a+)+$ takes for ever on forty characters. The timeout of a
// script is the one thing that stops an expression while it runs.
const script = new Script(`{
  const expression = new RegExp(source, flags);
  lines.map((text) => expression.exec(text)?.index ?? -1);
}`);

function expressionMatcher(source: string, ignoreCase: boolean): LineMatcher {
  const flags = ignoreCase ? 'i' : '';
  try {
    new RegExp(source, flags);
  } catch (error) {
    throw new Error(`${(error as Error).message}. Set regex to false to search for the text as it is.`);
  }
  const sandbox: Record<string, unknown> = createContext({ source, flags });
  let left = REGEX_BUDGET_MS;
  let shortened = 0;
  return {
    get shortened() {
      return shortened;
    },
    match(lines) {
      shortened += lines.filter((line) => line.length > MAX_TESTED_CHARS).length;
      sandbox.lines = lines.map((line) => line.slice(0, MAX_TESTED_CHARS));
      const started = performance.now();
      let places: number[];
      try {
        if (left < 1) throw new Error('spent');
        places = script.runInContext(sandbox, { timeout: Math.ceil(left) }) as number[];
      } catch {
        throw new Error('The regular expression takes too long on these files. Use a simpler one or a plain text.');
      }
      left -= performance.now() - started;
      return places.map((at, line) => ({ line, at })).filter((found) => found.at >= 0);
    },
  };
}
