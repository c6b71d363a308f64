import { expect, test } from 'vitest';
import { describeFinding, search, sound } from './property.ts';

const CASES = 2000;
const SECONDS = 20;

/** One seed alone; a longer run; else so many cases or so long, whichever is reached first. */
const { SEED, PROPERTY_SECONDS } = process.env;
const seconds = Number(PROPERTY_SECONDS ?? SECONDS);

test('a turn that is killed anywhere goes on from the log as if it had not been', {
  timeout: seconds * 1000 + 30_000,
}, async () => {
  const start = performance.now();
  const { tally, finding } = await search(sound, {
    from: Number(SEED ?? 1),
    goesOn: ({ seeds, cases }) => {
      if (SEED !== undefined) return seeds === 0;
      if (PROPERTY_SECONDS === undefined && cases >= CASES) return false;
      return performance.now() - start < seconds * 1000;
    },
  });
  if (finding) expect.fail(describeFinding(finding));
  if (SEED === undefined) {
    expect(tally.deaths).toBeGreaterThan(0);
    expect(tally.answers).toBeGreaterThan(0);
  }
});
