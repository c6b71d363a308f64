import { describe, expect, test } from 'vitest';
import { mariadbServer, postgresServer, sqliteFile } from '../../adapters/databases.ts';
import { describeFinding, searchOn, seedsFrom } from './owners.ts';

/** One seed alone; a longer run; else so many sessions or so long, whichever is reached first. */
const { SEED, PROPERTY_SECONDS } = process.env;

describe.each([
  { server: sqliteFile, from: 1, count: 10, seconds: 8 },
  { server: postgresServer, from: 101, count: 3, seconds: 4 },
  { server: mariadbServer, from: 201, count: 3, seconds: 4 },
])('two processes on one session', ({ server, from, count, seconds }) => {
  test.skipIf(server.skip)(
    `ATT-B2 ${server.name}: one owner, nothing twice, nothing lost (from seed ${SEED ?? from})`,
    {
      timeout: Number(PROPERTY_SECONDS ?? 0) * 1000 + 120_000,
    },
    async () => {
      const start = performance.now();
      const allowed = Number(PROPERTY_SECONDS ?? seconds) * 1000;
      const { finding, tally } = await searchOn(server, seedsFrom(Number(SEED ?? from)), (cases) => {
        if (SEED !== undefined) return cases === 0;
        if (PROPERTY_SECONDS === undefined && cases >= count) return false;
        return cases === 0 || performance.now() - start < allowed;
      });
      if (finding) expect.fail(describeFinding(finding));
      expect(tally.cases).toBeGreaterThan(0);
    },
  );
});

/** Stories that have found what few others find: a lease that is not looked at. */
const fixed = [709, 712, 718];

test.skipIf(SEED !== undefined)(
  `ATT-B2 one owner, nothing twice, nothing lost (seeds ${fixed})`,
  async () => {
    const { finding, tally } = await searchOn(sqliteFile, fixed, () => true);
    if (finding) expect.fail(describeFinding(finding));
    expect(tally.cases).toBe(fixed.length);
  },
  60_000,
);
