import type { Limits } from '../contracts/index.ts';

/** One for all that have none. */
const none: Limits = Object.freeze({});

/** Nothing is bounded. */
export function isUnlimited(limits: object | undefined): boolean {
  for (const _ in limits) return false;
  return true;
}

/** The stricter of several sets of limits, key by key. */
export function strictestLimits(...sets: readonly (Limits | undefined)[]): Limits {
  if (sets.every(isUnlimited)) return none;
  const result: Limits = {};
  for (const set of sets) {
    for (const key of ['steps', 'usd', 'tokens', 'minutes'] as const) {
      const value = set?.[key];
      if (value !== undefined) result[key] = Math.min(result[key] ?? Number.POSITIVE_INFINITY, value);
    }
  }
  return result;
}
