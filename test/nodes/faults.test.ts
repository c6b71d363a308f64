import { describe, expect, test } from 'vitest';
import { faultNodes } from './faults.ts';
import { canHavePostgres } from './parts.ts';
import { restateProgram } from './restate-server.ts';

describe.skipIf(!canHavePostgres || restateProgram === undefined)(
  'what nodes stand on fails under running turns',
  () => {
    test('NF-02 Restate is killed and started again: that is reported, and no turn is lost, stuck or run twice', async () => {
      const { turns, healed } = await faultNodes({ nodes: 2, seed: 5, plan: ['restate'], submitted: 2, restate: true });
      expect(healed.map(({ fault }) => fault)).toEqual(['restate']);
      expect(turns).toBeGreaterThan(2);
    }, 300_000);
  },
);
