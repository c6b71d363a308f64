import { expect, test } from 'vitest';
import { emptyTally, trySeed } from './property.ts';

const CASES = 1200;
const SECONDS = 15;

/** One seed alone; a longer run; else so many sessions or so long, whichever is reached first. */
const { SEED, PROPERTY_SECONDS } = process.env;
const seconds = Number(PROPERTY_SECONDS ?? SECONDS);

test('whatever is thrown at a hosted session: nothing runs unapproved, nothing is lost, every stream keeps the grammar', {
  timeout: seconds * 1000 + 60_000,
}, async () => {
  const start = performance.now();
  const tally = emptyTally();
  const first = Number(SEED ?? 1);
  for (let seed = first; seed < first + CASES && performance.now() - start < seconds * 1000; seed++) {
    const finding = await trySeed(seed, tally, SEED !== undefined);
    if (finding) {
      const again = `SEED=${seed} npm test -- test/property/hosted/hosted.test.ts`;
      expect.fail([again, ...finding.faults, ...finding.trace].join('\n'));
    }
    if (SEED !== undefined) return;
  }
  expect(tally.cases).toBeGreaterThan(0);
  expect(tally.runs).toBeGreaterThan(0);
});
