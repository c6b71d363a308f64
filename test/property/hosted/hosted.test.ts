import { expect, test } from 'vitest';
import { describeFinding, search } from './property.ts';

/** The same sessions on every machine, however slow. */
const CASES = 200;

/** One seed alone, or a longer run, in seconds. */
const { SEED, PROPERTY_SECONDS } = process.env;
const seconds = PROPERTY_SECONDS === undefined ? undefined : Number(PROPERTY_SECONDS);

test('whatever is thrown at a hosted session: nothing runs unapproved, nothing is lost, every stream keeps the grammar', {
  timeout: (seconds ?? 240) * 1000 + 60_000,
}, async () => {
  const start = performance.now();
  const { tally, finding } = await search({
    from: Number(SEED ?? 1),
    goesOn: ({ seeds, cases }) => {
      if (SEED !== undefined) return seeds === 0;
      return seconds === undefined ? cases < CASES : performance.now() - start < seconds * 1000;
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
