import { expect, test } from 'vitest';
import { describeFinding, search } from './property.ts';

const CASES = 1200;
const SECONDS = 15;

/** One seed alone; a longer run; else so many sessions or so long, whichever is reached first. */
const { SEED, PROPERTY_SECONDS } = process.env;
const seconds = Number(PROPERTY_SECONDS ?? SECONDS);

test('whatever is thrown at a hosted session: nothing runs unapproved, nothing is lost, every stream keeps the grammar', {
  timeout: seconds * 1000 + 60_000,
}, async () => {
  const start = performance.now();
  const { tally, finding } = await search({
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
    expect(tally.runs).toBeGreaterThan(0);
  }
});

/** Each has found a race once: the start of a stream, aborts of threads beside it, a question behind a fatal error. */
test.each([669, 214_506_585, 740_813_431, 912_234_095])('F35 nothing is found from seed %i', async (from) => {
  const { finding } = await search({ from, goesOn: ({ seeds }) => seeds === 0 });
  if (finding) expect.fail(describeFinding(finding));
});
