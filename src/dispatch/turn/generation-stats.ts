import type { Usage, UsageCount } from '../../contracts/index.ts';
import { usageCounts } from '../../contracts/index.ts';

/** Token counts of one generation, and how it ended. */
export interface GenerationStats {
  /** All of the input, with what was cached. */
  promptTokens?: number;
  /** All of the output, with what was thought. */
  completionTokens?: number;
  /** Read from the provider's cache: a part of the input. */
  cachedReadTokens?: number;
  /** Written to the provider's cache: a part of the input. */
  cacheWriteTokens?: number;
  /** A part of the output. */
  thoughtTokens?: number;
  totalTokens?: number;
  /** Of the answer whose message was stored last. */
  finishReason?: string;
  model?: string;
  provider?: string;
  /** As the provider has it. */
  raw?: Record<string, unknown>;
}

const NAMES = {
  inputTokens: 'promptTokens',
  outputTokens: 'completionTokens',
  cachedReadTokens: 'cachedReadTokens',
  cacheWriteTokens: 'cacheWriteTokens',
  thoughtTokens: 'thoughtTokens',
} as const satisfies Record<UsageCount, keyof GenerationStats>;

/** What a session stores of a generation's counts; undefined where there are none. */
export function usageOfStats(stats: GenerationStats): Usage | undefined {
  const usage: Usage = {};
  for (const count of usageCounts) {
    const value = stats[NAMES[count]];
    if (value !== undefined) usage[count] = value;
  }
  return Object.keys(usage).length === 0 ? undefined : usage;
}

/** The counts of a session's usage as an executor reports them. */
export function statsOfUsage(usage: Usage): GenerationStats {
  const stats: GenerationStats = {};
  for (const count of usageCounts) {
    const value = usage[count];
    if (value !== undefined) stats[NAMES[count]] = value;
  }
  return stats;
}
