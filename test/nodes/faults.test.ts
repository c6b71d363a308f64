import { describe, expect, test } from 'vitest';
import { faultNodes } from './faults.ts';
import { canHavePostgres } from './parts.ts';

describe.skipIf(!canHavePostgres)('what nodes stand on fails', () => {
  test('NF-01 connections cut, PostgreSQL restarted, its disk full, NATS killed, a wrong clock: reported, healed, nothing is lost', async () => {
    const plan = ['cut', 'restart', 'full', 'read-only', 'nats'] as const;
    const { turns, healed } = await faultNodes({ nodes: 2, seed: 5, plan, submitted: 3 });
    expect(turns).toBeGreaterThan(0);
    expect(healed.map(({ fault }) => fault)).toEqual(expect.arrayContaining(['cut', 'restart', 'read-only']));
  }, 400_000);
});
