import { describe, expect, test } from 'vitest';
import { readCron } from '../../src/host/background/cron.ts';
import { InMemorySessionService } from '../../src/index.ts';
import { scheduleSuite } from '../suites/schedules.ts';

scheduleSuite('in one process', async () => {
  const store = new InMemorySessionService();
  return { store: async () => store, close: async () => {} };
});

describe('cron', () => {
  const at = (text: string) => Date.parse(text);
  const iso = (time: number | undefined) => (time === undefined ? undefined : new Date(time).toISOString());
  const times = async (cron: string, zone: string, from: string, count: number) => {
    const read = await readCron(cron, zone, 'test');
    const found: number[] = [];
    for (let time = read.next(at(from)); time !== undefined && found.length < count; time = read.next(time))
      found.push(time);
    // Whoever looks back finds the same times.
    for (const time of found)
      expect([iso(read.last(time)), iso(read.last(time + 1000))]).toEqual([iso(time), iso(time)]);
    return found.map(iso);
  };

  test('SC-06 times are those of the zone, on the days on which its clocks are set, too', async () => {
    expect(await times('30 2 * * *', 'Europe/Berlin', '2026-03-27T12:00Z', 4)).toEqual([
      '2026-03-28T01:30:00.000Z',
      '2026-03-29T01:30:00.000Z',
      '2026-03-30T00:30:00.000Z',
      '2026-03-31T00:30:00.000Z',
    ]);
    const autumn = await times('30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00Z', 3);
    expect(new Set(autumn).size).toBe(3);
    expect(await times('0 0 29 2 *', 'UTC', '2026-01-01T00:00Z', 1)).toEqual(['2028-02-29T00:00:00.000Z']);
    const read = await readCron('*/15 9-10 * * 1-5', 'America/New_York', 'test');
    expect(iso(read.last(at('2026-11-30T20:00Z')))).toBe('2026-11-30T15:45:00.000Z');
    expect(iso(read.last(at('2026-11-29T20:00Z')))).toBe('2026-11-27T15:45:00.000Z');
  });
});
