import type { Usage } from '../../contracts/index.ts';
import { usageCounts } from '../../contracts/index.ts';

/** Sums two counts of tokens and cost; what neither has stays absent. */
export function addUsage(a: Usage, b: Usage): Usage {
  const sum: Usage = {};
  for (const key of usageCounts) {
    if (a[key] !== undefined || b[key] !== undefined) sum[key] = (a[key] ?? 0) + (b[key] ?? 0);
  }
  if (a.cost || b.cost) sum.cost = { usd: (a.cost?.usd ?? 0) + (b.cost?.usd ?? 0) };
  return sum;
}
