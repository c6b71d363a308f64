import { spend, Undecided } from './effort.ts';
import type { PatternMachine } from './pattern-machine.ts';
import { patternMachine } from './pattern-machine.ts';
import type { PatternNode } from './pattern-syntax.ts';
import { parsePattern } from './pattern-syntax.ts';

/** Strings longer than this are not matched against the patterns of rules. */
export const MAX_PATTERN_INPUT = 10_000;
/** Ways to match a text that the engine may try, one after the other: below a few milliseconds. */
const MAX_WAYS = 100_000;

/**
 * A test of strings by a pattern (flags: none, or `u`) in bounded time, so that whoever makes the text, or the pattern,
 * cannot keep the process busy. Where the engine could try many ways to match, an automaton does it in time that is
 * linear in the text. It throws {@link Undecided} where it cannot tell.
 */
export function boundedTest(pattern: RegExp, maxLength = MAX_PATTERN_INPUT): (text: string) => boolean {
  const { source, unicode } = pattern;
  const node = parsePattern(pattern);
  const ways = node ? waysOf(node) : unknownWays(source);
  const isAnchored = node?.type === 'all' && node.parts[0]?.type === 'edge' && node.parts[0].kind === 'start';
  let machine: PatternMachine | undefined | null = node ? undefined : null;
  return (text) => {
    const { length } = text;
    if (length > maxLength) throw new Undecided(`${length} characters are too long for a pattern`);
    const effort = (isAnchored ? 1 : length + 1) * ways(length) * source.length + length;
    if (effort <= MAX_WAYS) {
      spend(effort);
      return pattern.test(text);
    }
    machine ??= machine === null || !node ? null : (patternMachine(node, unicode) ?? null);
    if (!machine) throw new Undecided(`the pattern ${source} may take too long on ${length} characters`);
    spend(machine.states * (length + 1));
    return machine.test(text);
  };
}

/** Why a pattern cannot be tested on texts of any length; undefined if it can. */
export function faultOfPattern(pattern: RegExp): string | undefined {
  const node = parsePattern(pattern);
  if (!node) return 'has a reference to a group (\\1, \\k<name>), which cannot be tested in bounded time';
  return patternMachine(node, pattern.unicode) ? undefined : 'has repetitions that are too many to be written out';
}

type Ways = (length: number) => number;

/** In how many ways an engine that goes back may match a node from one place of a text. */
function waysOf(node: PatternNode): Ways {
  switch (node.type) {
    case 'char':
    case 'edge':
      return () => 1;
    case 'look':
      return waysOf(node.inner);
    case 'all': {
      const parts = node.parts.map(waysOf);
      return (length) => parts.reduce((product, ways) => product * ways(length), 1);
    }
    case 'any': {
      const parts = node.parts.map(waysOf);
      return (length) => parts.reduce((sum, ways) => sum + ways(length), 0);
    }
    case 'repeat': {
      const { inner, min, max } = node;
      const ways = waysOf(inner);
      if (max <= 1) return (length) => ways(length) + 1 - min;
      if (inner.type !== 'char') return (length) => repeated(ways(length), max, length);
      return (length) => Math.max(1, Math.min(max, length) - min + 1);
    }
  }
}

/** Each turn is tried in all ways, and may be the last one. */
function repeated(ways: number, max: number, length: number): number {
  return (ways + 1) ** Math.min(max, length + 1);
}

/** Of what is not read: each character of the pattern may begin a repetition of all others. */
const unknownWays =
  (source: string): Ways =>
  (length) =>
    (length + 2) ** source.length;
