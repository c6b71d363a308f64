import type { UsageEvent } from '../contracts/index.ts';

/** USD per million tokens. */
export interface Price {
  input: number;
  output: number;
  /** Default: `input`. */
  cachedRead?: number;
  /** Default: `input`. */
  cacheWrite?: number;
}

export type PriceTable = Record<string, Price>;

/** USD of one model call; undefined where neither the model nor the table knows. */
export function costOf(usage: UsageEvent, prices: PriceTable | undefined): number | undefined {
  if (usage.cost) return usage.cost.usd;
  const price = usage.model === undefined ? undefined : prices?.[usage.model];
  if (!price) return undefined;
  const cached = usage.cachedReadTokens ?? 0;
  const written = usage.cacheWriteTokens ?? 0;
  const fresh = Math.max(0, (usage.inputTokens ?? 0) - cached - written);
  const sum =
    fresh * price.input +
    cached * (price.cachedRead ?? price.input) +
    written * (price.cacheWrite ?? price.input) +
    (usage.outputTokens ?? 0) * price.output;
  return sum / 1_000_000;
}
