import type { PolicyDecision, ToolResult } from '../../contracts/index.ts';
import { errorResult } from '../result/index.ts';

/** Decisions that stand for one which policy did not give. */
const unanswered = new WeakSet<PolicyDecision>();

/** Policy gave no proper answer: the reason is for whoever runs the policy, and no model is told it. */
export function asUnanswered<T extends PolicyDecision>(decision: T): T {
  unanswered.add(decision);
  return decision;
}

export function isUnanswered(decision: PolicyDecision): boolean {
  return unanswered.has(decision);
}

/** What policy is on record with where it says no. */
export function reasonOf({ reason }: PolicyDecision): string {
  return reason ?? 'denied by policy';
}

/** What a model is told of a call that policy denies: that it was policy, and what policy says to it, nothing else. */
export function policyDenied(policy: PolicyDecision): ToolResult {
  const { reason } = policy;
  if (isUnanswered(policy)) return errorResult('denied', 'denied by policy: it gave no proper answer');
  return errorResult('denied', reason === undefined ? 'denied by policy' : `denied by policy: ${reason}`);
}

/** What a model is told of a call that anybody else has denied. */
export function deniedResult(reason?: string): ToolResult {
  return errorResult('denied', reason ? `denied: ${reason}` : 'denied');
}
