import { beforeAll, expect, test } from 'vitest';
import { circumstances } from './circumstances.ts';
import { describeFinding, nothing, search } from './property.ts';

const SECONDS = 3;
const SEEDS = 20;

/** One seed alone; a longer run; else so many seeds or so long, whichever is reached first. */
const { SEED, PROPERTY_SECONDS } = process.env;
const seconds = Number(PROPERTY_SECONDS ?? SECONDS);

// What is loaded when it is first needed costs more than all seeds.
beforeAll(async () => {
  for (const trySeed of Object.values(circumstances)) expect(await trySeed(0, { ...nothing })).toBeUndefined();
});

test.each(Object.entries(circumstances))(
  'ATT-B1 whatever an executor says %s, no tool runs but by policy or a person',
  { timeout: seconds * 1000 + 60_000 },
  async (_, trySeed) => {
    const start = performance.now();
    const { tally, finding } = await search({
      from: Number(SEED ?? 1),
      trySeed,
      goesOn({ seeds, runs, contradictions }) {
        if (SEED !== undefined) return seeds === 0;
        if (runs === 0 || contradictions === 0) return true;
        if (PROPERTY_SECONDS === undefined && seeds >= SEEDS) return false;
        return performance.now() - start < seconds * 1000;
      },
    });
    if (finding) expect.fail(describeFinding(finding));
    if (SEED !== undefined) return;
    expect(tally.runs).toBeGreaterThan(0);
    expect(tally.contradictions).toBeGreaterThan(0);
  },
);
