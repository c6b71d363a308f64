import type { Usage, UsageCount } from '../../../contracts/index.ts';

/** Tokens of an answer, as its provider counts them. */
export type TokenCounts = Omit<Usage, 'cost'>;

/**
 * The counts that are some; servers also send null, text and less than nothing, which would spoil every sum. Each has to be named:
 * one that a provider does not have is undefined.
 */
export function countsOf(counts: Readonly<Record<UsageCount, unknown>>): TokenCounts {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => isCount(count)));
}

/**
 * Running totals that come in pieces, each with some of them: a count that is left out or falls takes nothing back, so
 * that usage is never lower than what was told.
 */
export function grown<T extends object>(before: T | undefined, next: T): T {
  if (!before) return next;
  const sum = { ...before } as Record<string, unknown>;
  for (const [key, value] of Object.entries(next)) {
    const known = sum[key];
    if (isCount(value) && !(isCount(known) && known > value)) sum[key] = value;
  }
  return sum as T;
}

export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
