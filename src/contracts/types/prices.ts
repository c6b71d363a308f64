import type { Usage, UsageEvent } from './events.ts';

/** USD per million tokens. */
export interface Price {
  input: number;
  output: number;
  /** Default: `input`. */
  cachedRead?: number;
  /** Default: `input`. */
  cacheWrite?: number;
}

/** By name of the model. */
export type PriceTable = Readonly<Record<string, Price>>;

/** Input and output together: what was cached is a part of the one, what was thought of the other. */
export function totalTokens(usage: Usage): number {
  return (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0);
}

/** USD of one model call. Cached tokens are a part of the input, thoughts of the output. */
export function tokenCost(usage: Usage, price: Price): number {
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

/** USD of one model call, as its event or the table has it; undefined where neither knows. */
export function costOf(usage: UsageEvent, prices: PriceTable | undefined): number | undefined {
  if (usage.cost) return usage.cost.usd;
  const { model } = usage;
  const price = model !== undefined && prices && Object.hasOwn(prices, model) ? prices[model] : undefined;
  return price && tokenCost(usage, price);
}
