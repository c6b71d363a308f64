import type { UsageCount } from '../../../contracts/index.ts';

/** What the protocol's draft calls each count of tokens. */
export const USAGE_MEMBERS: Readonly<Record<UsageCount, string>> = {
  inputTokens: 'inputTokens',
  outputTokens: 'outputTokens',
  cachedReadTokens: 'cachedReadTokens',
  cacheWriteTokens: 'cachedWriteTokens',
  thoughtTokens: 'thoughtTokens',
};
