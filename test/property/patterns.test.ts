import { expect, test } from 'vitest';
import { differing, evaluateOne, randomOf } from './patterns.ts';

const seed = 20_261_128;

test(`ATT-B3 random patterns mean what the engine says (seed ${seed})`, () => {
  const random = randomOf(seed);
  expect(Array.from({ length: 500 }, () => differing(random)).filter((one) => one !== undefined)).toEqual([]);
});

test(`ATT-B3 random schemas are evaluated or refused by their count (seed ${seed})`, () => {
  const random = randomOf(seed);
  const outcomes = Array.from({ length: 40 }, () => evaluateOne(random));
  expect(outcomes.filter((outcome) => outcome === 'decided').length).toBeGreaterThan(10);
});
