/** A list of globs: `*` is any text, also none, `?` one character; everything else is itself. */
export interface Glob {
  /** Patterns without a wildcard. */
  readonly exact: readonly string[];
  /** Patterns with one. */
  readonly wild: readonly string[];
  test(text: string): boolean;
}

const hasWildcard = (pattern: string): boolean => /[*?]/.test(pattern);

export function compileGlob(patterns: string | readonly string[]): Glob {
  const list = typeof patterns === 'string' ? [patterns] : patterns;
  const exact = list.filter((pattern) => !hasWildcard(pattern));
  const wild = list.filter(hasWildcard);
  const names = new Set(exact);
  const matchers = wild.map(matcherOf);
  return { exact, wild, test: (text) => names.has(text) || matchers.some((matches) => matches(text)) };
}

function matcherOf(pattern: string): (text: string) => boolean {
  const prefix = pattern.slice(0, -1);
  if (pattern.endsWith('*') && !hasWildcard(prefix)) return (text) => text.startsWith(prefix);
  return (text) => matchWild(pattern, text, '?', (character) => character !== undefined);
}

/**
 * Greedy matching with one point of return: time is bounded by the product of the lengths, whatever the pattern
 * (a regular expression made from it could take exponential time).
 */
function matchWild(pattern: string, text: string, one: string, fitsOne: (character: string | undefined) => boolean) {
  let at = 0;
  let star = -1;
  let resume = 0;
  let i = 0;
  while (i < text.length) {
    if (pattern[at] === '*') {
      star = at++;
      resume = i;
    } else if (at < pattern.length && (pattern[at] === one ? fitsOne(text[i]) : pattern[at] === text[i])) {
      at++;
      i++;
    } else if (star >= 0) {
      at = star + 1;
      i = ++resume;
    } else {
      return false;
    }
  }
  while (pattern[at] === '*') at++;
  return at === pattern.length;
}

/** Whether every text that `narrow` matches is matched by `wide`. May say no where the answer is yes, never the reverse. */
export function covers(wide: Glob, narrow: Glob): boolean {
  const patterns = [...wide.exact, ...wide.wild];
  // A star of the narrow pattern is read as a character that only a star of the wide one takes.
  const coversOne = (pattern: string) =>
    patterns.some((other) => matchWild(other, pattern, '?', (character) => character !== '*'));
  return [...narrow.exact, ...narrow.wild].every(coversOne);
}
