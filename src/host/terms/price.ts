import type { PriceTable, UsageEvent } from '../../contracts/index.ts';
import { tokenCost } from '../../contracts/index.ts';

/** USD of one model call; undefined where neither the model nor the table knows. */
export function costOf(usage: UsageEvent, prices: PriceTable | undefined): number | undefined {
  if (usage.cost) return usage.cost.usd;
  const { model } = usage;
  const price = model !== undefined && prices && Object.hasOwn(prices, model) ? prices[model] : undefined;
  return price && tokenCost(usage, price);
}
