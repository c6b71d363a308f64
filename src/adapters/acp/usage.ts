import type { PromptResponse } from '@agentclientprotocol/sdk';
import type { Usage } from '../../contracts/index.ts';
import { membersOf } from './same-call.ts';

const COUNTS: Readonly<Record<string, keyof Usage>> = {
  inputTokens: 'inputTokens',
  outputTokens: 'outputTokens',
  thoughtTokens: 'thoughtTokens',
  cachedReadTokens: 'cachedReadTokens',
  cachedWriteTokens: 'cacheWriteTokens',
};

/** Tokens of a prompt, where the agent tells them: the protocol's draft has a member for them. */
export function usageOf(answer: PromptResponse | undefined): Usage | undefined {
  const told = membersOf((answer as { usage?: unknown } | undefined)?.usage) ?? {};
  const counts = Object.entries(COUNTS).flatMap(([theirs, ours]) => {
    const count = told[theirs];
    return typeof count === 'number' && Number.isFinite(count) && count > 0 ? [[ours, count]] : [];
  });
  return counts.length === 0 ? undefined : Object.fromEntries(counts);
}
