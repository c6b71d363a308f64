import { expect, test } from 'vitest';
import { boundedTest, Undecided, withEffort } from '../../src/gate/index.ts';
import { spend } from '../../src/gate/pattern/effort.ts';

const ALLOWANCE = 5_000_000;

/** Steps that a test of a text takes of an allowance. */
function costOf(pattern: RegExp, text: string): number {
  const fits = boundedTest(pattern);
  const isEnough = (steps: number) => {
    try {
      withEffort(() => {
        spend(ALLOWANCE - steps);
        fits(text);
      });
      return true;
    } catch (error) {
      if (error instanceof Undecided) return false;
      throw error;
    }
  };
  let [low, high] = [0, ALLOWANCE];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (isEnough(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** At each of the five places of the text so many, and the text itself. */
const each = (steps: number) => 5 * steps + 4;

test.each<[RegExp, number]>([
  [/a/, each(1)],
  [/abc/, each(3)],
  [/^abc/, 4 + 4],
  [/a|b/, each(2)],
  [/ab|c|/, each(2 + 1)],
  [/a?/, each(2)],
  [/a?b/, each(2 + 2)],
  [/(ab)?c/, each(3 + 2)],
  [/a*/, each(5)],
  [/a*b/, each(5 + 5)],
  [/a+b/, each(5 + 4)],
  [/a{2}b/, each(3 + 1)],
  [/a{2,3}b/, each(4 + 2)],
  [/(?=ab)c/, each(2 + 1)],
  [/^(ab)*$/, 1 + 2 * 2 ** 5 + 2 ** 5 + 4],
  [/^(ab|c){2}$/, 1 + 3 * 3 ** 2 + 3 ** 2 + 4],
])('%s takes %d steps on four characters', (pattern, steps) => {
  expect(costOf(pattern, 'xxxx')).toBe(steps);
});

test('a pattern that is not read costs as if each of its characters repeated all others', () => {
  expect(costOf(/(a)\1/, '')).toBe(2 ** 5);
  expect(costOf(/(a)\1/, 'xx')).toBe(3 * 4 ** 5 + 2);
});

test('where the engine would cost too much, states are counted instead: their number at each place', () => {
  const long = 'x'.repeat(1000);
  // Two characters and a repetition of one, with its way in and its way back, and the end.
  expect(costOf(/a*a*b/, long)).toBe(8 * 1001);
});
