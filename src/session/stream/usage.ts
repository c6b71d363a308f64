import type { Usage } from '../../contracts/index.ts';

const counters = ['inputTokens', 'outputTokens', 'cachedReadTokens', 'cacheWriteTokens', 'thoughtTokens'] as const;

/** Sums two counts of tokens and cost; what neither has stays absent. */
export function addUsage(a: Usage, b: Usage): Usage {
  const sum: Usage = {};
  for (const key of counters) {
    if (a[key] !== undefined || b[key] !== undefined) sum[key] = (a[key] ?? 0) + (b[key] ?? 0);
  }
  if (a.cost || b.cost) sum.cost = { usd: (a.cost?.usd ?? 0) + (b.cost?.usd ?? 0) };
  return sum;
}
