import type { AgentEvent, Usage } from '../../contracts/index.ts';

/** What a sub-agent has used, as its caller's log says: it stands with the decision on its call. */
export function usageOfSubagent(event: AgentEvent): { callId: string; usage: Usage } | undefined {
  if (event.type !== 'custom' || event.kind !== 'policy_decision') return undefined;
  const { callId, usage } = event.data;
  return usage && { callId, usage };
}
