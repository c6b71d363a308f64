/**
 * Counts of tokens that a usage may have, each with its attribute in spans. The only list of them: schema, sums, metrics and tables of
 * other protocols follow it, and a table that lacks one does not compile.
 */
export const USAGE_COUNTS = {
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  /** A part of the input. */
  cachedReadTokens: 'gen_ai.usage.cache_read.input_tokens',
  /** A part of the input. */
  cacheWriteTokens: 'gen_ai.usage.cache_write.input_tokens',
  /** A part of the output. */
  thoughtTokens: 'gen_ai.usage.reasoning.output_tokens',
} as const;

export type UsageCount = keyof typeof USAGE_COUNTS;

export const usageCounts = Object.keys(USAGE_COUNTS) as readonly UsageCount[];
