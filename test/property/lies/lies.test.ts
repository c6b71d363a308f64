import { beforeAll, expect, test } from 'vitest';
import { lyingExecutor } from '../../../src/testing/index.ts';
import { circumstances } from './circumstances.ts';
import { describeFinding, search } from './property.ts';

const SECONDS = 4;
const SEEDS = 20;

/** One seed alone; a longer run; else so many seeds or so long, whichever is reached first. */
const { SEED, PROPERTY_SECONDS } = process.env;
const seconds = Number(PROPERTY_SECONDS ?? SECONDS);

// What is loaded when it is first needed costs more than all seeds.
beforeAll(async () => {
  for (const { wire } of Object.values(circumstances)) {
    const { sources, close } = await wire(lyingExecutor({ calls: [] }));
    const session = await sources[0]?.open({ sessionId: 's0' }, { app: 'far' });
    await session?.[Symbol.asyncDispose]();
    await close();
  }
});

test.each(Object.entries(circumstances))(
  'ATT-B1 whatever an executor says %s, no tool runs but by policy or a person',
  { timeout: seconds * 1000 + 60_000 },
  async (_, each) => {
    const start = performance.now();
    const { tally, finding } = await search({
      from: Number(SEED ?? 1),
      circumstances: each,
      goesOn({ seeds, runs, contradictions }) {
        if (SEED !== undefined) return seeds === 0;
        if (runs === 0 || contradictions === 0) return true;
        if (PROPERTY_SECONDS === undefined && seeds >= SEEDS) return false;
        return performance.now() - start < seconds * 1000;
      },
    });
    if (finding) expect.fail(describeFinding(finding));
    if (SEED === undefined)
      expect(tally).toMatchObject({ runs: expect.any(Number), contradictions: expect.any(Number) });
  },
);
