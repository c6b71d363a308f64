import type { AgentEvent, PriceTable, Usage, UsageEvent } from '../../contracts/index.ts';
import { tokenCost } from '../../contracts/index.ts';

/** USD of one model call; undefined where neither the model nor the table knows. */
export function costOf(usage: UsageEvent, prices: PriceTable | undefined): number | undefined {
  if (usage.cost) return usage.cost.usd;
  const { model } = usage;
  const price = model !== undefined && prices && Object.hasOwn(prices, model) ? prices[model] : undefined;
  return price && tokenCost(usage, price);
}

/** What a sub-agent has used, as its caller's log says: it stands with the decision on its call. */
export function usageOfSubagent(event: AgentEvent): { callId: string; usage: Usage } | undefined {
  if (event.type !== 'custom' || event.kind !== 'policy_decision') return undefined;
  const { callId, usage } = event.data;
  return usage && { callId, usage };
}
