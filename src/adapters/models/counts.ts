import type { Usage } from '../../contracts/index.ts';

type Counts = Omit<Usage, 'cost'>;

/** The counts that are some; servers also send null, text and less than nothing, which would spoil every sum. */
export function countsOf(counts: { [Key in keyof Counts]: unknown }): Counts {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => isCount(count)));
}

export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
