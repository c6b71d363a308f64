import type { Usage } from '../../contracts/index.ts';

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

const COUNTS = {
  promptTokens: 'inputTokens',
  completionTokens: 'outputTokens',
  cachedReadTokens: 'cachedReadTokens',
  cacheWriteTokens: 'cacheWriteTokens',
  thoughtTokens: 'thoughtTokens',
} as const satisfies Partial<Record<keyof GenerationStats, keyof Usage>>;

const counts = Object.entries(COUNTS) as [keyof typeof COUNTS, (typeof COUNTS)[keyof typeof COUNTS]][];

/** What a session stores of a generation's counts; undefined where there are none. */
export function usageOfStats(stats: GenerationStats): Usage | undefined {
  const told = counts.flatMap(([name, ours]) => (stats[name] === undefined ? [] : [[ours, stats[name]] as const]));
  return told.length === 0 ? undefined : Object.fromEntries(told);
}

/** The counts of a session's usage as an executor reports them. */
export function statsOfUsage(usage: Usage): GenerationStats {
  return Object.fromEntries(
    counts.flatMap(([name, ours]) => (usage[ours] === undefined ? [] : [[name, usage[ours]] as const])),
  );
}
