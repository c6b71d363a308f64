import type { PromptResponse } from '@agentclientprotocol/sdk';
import type { Usage } from '../../../contracts/index.ts';
import { CoxswainError, usageCounts } from '../../../contracts/index.ts';
import { inputMembers, USAGE_MEMBERS } from '../calls/index.ts';

/** Tokens of a prompt, where the agent tells them: the protocol's draft has a member for them. */
export function promptUsage(answer: PromptResponse | undefined): Usage | undefined {
  const told = inputMembers((answer as { usage?: unknown } | undefined)?.usage) ?? {};
  const counts = usageCounts.flatMap((ours) => {
    const count = told[USAGE_MEMBERS[ours]];
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
      return new CoxswainError('FAILED_PRECONDITION', 'E_REFUSED', `agent ${agent} refuses to continue`);
    case 'max_turn_requests':
      return new CoxswainError('RESOURCE_EXHAUSTED', 'E_MAX_LLM_CALLS', `agent ${agent} has reached its own limit`);
    default:
      return new CoxswainError('ABORTED', 'E_ABORTED', `agent ${agent} has ended its turn: ${reason ?? 'unknown'}`);
  }
}
