import { unreachable } from '../../base/index.ts';
import { spend, Undecided } from './effort.ts';
import type { PatternMachine } from './pattern-machine.ts';
import { patternMachine } from './pattern-machine.ts';
import type { PatternNode } from './pattern-syntax.ts';
import { parsePattern } from './pattern-syntax.ts';

/** Strings longer than this are not matched against the patterns of rules. */
export const MAX_PATTERN_INPUT = 10_000;
/** Characters that the engine may look at, going back: below a few milliseconds. */
const MAX_EFFORT = 100_000;

/**
 * A test of strings by a pattern (flags: none, or `u`) in bounded time, so that whoever makes the text, or the pattern,
 * cannot keep the process busy. Where the engine could try many ways to match, an automaton does it in time that is
 * linear in the text. It throws {@link Undecided} where it cannot tell.
 */
export function boundedTest(pattern: RegExp, maxLength = MAX_PATTERN_INPUT): (text: string) => boolean {
  const { source, unicode } = pattern;
  const node = parsePattern(pattern);
  const work = node ? workOf(node) : unknownWork(source);
  const isAnchored = node?.type === 'all' && node.parts[0]?.type === 'edge' && node.parts[0].kind === 'start';
  let machine: PatternMachine | undefined | null = node ? undefined : null;
  return (text) => {
    const { length } = text;
    if (length > maxLength) throw new Undecided(`${length} characters are too long for a pattern`);
    const effort = (isAnchored ? 1 : length + 1) * work(length).steps + length;
    if (effort <= MAX_EFFORT) {
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

/** Of an engine that goes back, from one place of a text: ways to match, and characters that it looks at for all of them. */
interface Work {
  readonly ways: number;
  readonly steps: number;
}
type WorkOn = (length: number) => Work;

const oneStep: Work = { ways: 1, steps: 1 };

function workOf(node: PatternNode): WorkOn {
  switch (node.type) {
    case 'char':
    case 'edge':
      return () => oneStep;
    case 'look':
      return workOf(node.inner);
    case 'all': {
      const parts = node.parts.map(workOf);
      return (length) => parts.reduce((before, part) => inTurn(before, part(length)), { ways: 1, steps: 0 });
    }
    case 'any': {
      const parts = node.parts.map(workOf);
      return (length) => parts.reduce<Work>((sum, part) => either(sum, part(length)), { ways: 0, steps: 0 });
    }
    case 'repeat': {
      const { inner, min, max } = node;
      const work = workOf(inner);
      if (max <= 1) return (length) => either(work(length), { ways: 1 - min, steps: 1 });
      if (inner.type !== 'char') return (length) => repeated(work(length), max, length);
      return (length) => {
        const most = Math.min(max, length);
        return { ways: Math.max(1, most - min + 1), steps: most + 1 };
      };
    }
    default:
      return unreachable(node, 'a node of a pattern');
  }
}

/** What follows is tried after each way of what is before it. */
const inTurn = (before: Work, after: Work): Work => ({
  ways: before.ways * after.ways,
  steps: before.steps + before.ways * after.steps,
});

const either = (one: Work, other: Work): Work => ({
  ways: one.ways + other.ways,
  steps: one.steps + other.steps,
});

/** Each turn is tried in all ways, and may be the last one. */
function repeated({ ways, steps }: Work, max: number, length: number): Work {
  const all = (ways + 1) ** Math.min(max, length + 1);
  return { ways: all, steps: steps * all };
}

/** Of what is not read: each character of the pattern may begin a repetition of all others. */
const unknownWork =
  (source: string): WorkOn =>
  (length) => {
    const ways = (length + 2) ** source.length;
    return { ways, steps: ways };
  };
