import type { PromptResponse } from '@agentclientprotocol/sdk';
import type { Usage } from '../../../contracts/index.ts';
import { CoxswainError } from '../../../contracts/index.ts';
import { inputMembers } from '../calls/index.ts';

const COUNTS: Readonly<Record<string, keyof Usage>> = {
  inputTokens: 'inputTokens',
  outputTokens: 'outputTokens',
  thoughtTokens: 'thoughtTokens',
  cachedReadTokens: 'cachedReadTokens',
  cachedWriteTokens: 'cacheWriteTokens',
};

/** Tokens of a prompt, where the agent tells them: the protocol's draft has a member for them. */
export function promptUsage(answer: PromptResponse | undefined): Usage | undefined {
  const told = inputMembers((answer as { usage?: unknown } | undefined)?.usage) ?? {};
  const counts = Object.entries(COUNTS).flatMap(([theirs, ours]) => {
    const count = told[theirs];
    return typeof count === 'number' && Number.isFinite(count) && count > 0 ? [[ours, count]] : [];
  });
  return counts.length === 0 ? undefined : Object.fromEntries(counts);
}

/** Why a prompt that has ended so has not ended well. */
export function stopped(reason: PromptResponse['stopReason'] | undefined, agent: string): CoxswainError | undefined {
  switch (reason) {
    case 'end_turn':
    case 'max_tokens':
      return undefined;
    case 'refusal':
      return new CoxswainError('FAILED_PRECONDITION', 'E_REFUSED', `agent ${agent} refuses to go on`);
    case 'max_turn_requests':
      return new CoxswainError('RESOURCE_EXHAUSTED', 'E_MAX_LLM_CALLS', `agent ${agent} has reached its own limit`);
    default:
      return new CoxswainError('ABORTED', 'E_ABORTED', `agent ${agent} has ended its turn: ${reason ?? 'unknown'}`);
  }
}
