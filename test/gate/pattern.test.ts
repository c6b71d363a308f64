import { describe, expect, test } from 'vitest';
import { boundedTest, faultOfPattern, Undecided, withEffort } from '../../src/gate/index.ts';

describe('ATT-B3 patterns', () => {
  test.each([
    '.*a.*a.*b',
    '.*a.*a.*a.*b',
    '(a*){6}b',
    'a*a*a*a*b',
    '^(.*)(.*)(.*)(.*)x$',
    '^(a+)+$',
    '^(a|aa)+$',
    '(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)b',
    '(?=(a+)+b)a',
    '(?<!(a+)+b)b',
  ])('%s is tested on long texts without going back', (source) => {
    const pattern = new RegExp(source);
    const fits = boundedTest(pattern);
    expect(fits(`${'a'.repeat(5000)}!`)).toBe(false);
    // Texts that are too short for any pattern to be slow.
    for (const text of ['', 'a', 'b', 'aab', 'aaaab!', 'xaaaa', 'ba']) expect(fits(text)).toBe(pattern.test(text));
  });

  test('a reference to a group is undecided where the engine could be slow, and said beforehand', () => {
    const pattern = /^(a+)+\1b$/;
    expect(() => boundedTest(pattern)('a'.repeat(100))).toThrow(Undecided);
    expect(faultOfPattern(pattern)).toContain('reference to a group');
    expect(faultOfPattern(/(?<n>a)\k<n>/)).toContain('reference to a group');
    expect(faultOfPattern(/((a{100}){100}){100}/)).toContain('too many');
    expect(faultOfPattern(/^(?!.*\.\.)(?<name>[a-z]+\/)+$/)).toBeUndefined();
  });

  test('many tests in one evaluation have one allowance', () => {
    const fits = boundedTest(/^(a+)+$/);
    let tested = 0;
    const all = () => {
      for (; tested < 10_000; tested++) fits(`${'a'.repeat(9000)}b`);
    };
    expect(() => withEffort(all)).toThrow(Undecided);
    expect(tested).toBeGreaterThan(10);
    expect(tested).toBeLessThan(1000);
    // The next one has its own.
    expect(withEffort(() => fits('a'.repeat(9000)))).toBe(true);
  });
});
