import { expect, test } from 'vitest';
import type { Wire } from './property.ts';
import { describeFinding, inProcess, search } from './property.ts';

const SECONDS = 6;

/** One seed alone; a longer run; else so many seeds or so long, whichever is reached first. */
const { SEED, PROPERTY_SECONDS } = process.env;
const seconds = Number(PROPERTY_SECONDS ?? SECONDS);

test.each<[string, Wire, number]>([['in this process', inProcess, 25]])(
  'ATT-B1 whatever an executor %s says, no tool runs but by policy or a person',
  {
    timeout: seconds * 1000 + 60_000,
  },
  async (_, wire, most) => {
    const start = performance.now();
    const { tally, finding } = await search({
      from: Number(SEED ?? 1),
      wire,
      goesOn: ({ seeds }) => {
        if (SEED !== undefined) return seeds === 0;
        if (PROPERTY_SECONDS === undefined && seeds >= most) return false;
        return performance.now() - start < seconds * 1000;
      },
    });
    if (finding) expect.fail(describeFinding(finding));
    if (SEED === undefined) {
      expect(tally.runs).toBeGreaterThan(0);
      expect(tally.contradictions).toBeGreaterThan(0);
    }
  },
);
