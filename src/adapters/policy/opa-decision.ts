import { isObject } from '../../base/index.ts';
import type { PolicyDecision } from '../../contracts/index.ts';
import { policyOutcome } from '../../contracts/index.ts';
import { withPresentNames } from '../../gate/index.ts';

/** What rules of both spellings may say. */
const members = ['outcome', 'reason', 'hint', 'ruleId', 'approvers', 'expiresIn', 'redact'];
const approverMembers = ['roles', 'notRequester', 'quorum'];

/**
 * A rule's result as a decision. Its values are checked by whoever asks a policy; a member that nobody knows may be
 * a misspelt obligation, which must not be a weaker one.
 * @throws Error for what is no decision
 */
export function decisionOf(result: unknown): PolicyDecision {
  if (result === undefined) throw new Error('the rule is undefined for this call, or there is no such rule');
  if (typeof result === 'boolean') return { outcome: result ? 'allow' : 'deny' };
  if (!isObject(result)) throw new Error('the result is neither true, false nor an object');
  const decision = renamed(result, members, 'the result');
  if (isObject(decision.approvers)) decision.approvers = renamed(decision.approvers, approverMembers, 'approvers');
  const outcome = policyOutcome(decision.outcome);
  if (outcome === undefined) throw new Error('"outcome" is neither allow, deny nor ask');
  return { ...decision, outcome };
}

function renamed(object: Record<string, unknown>, names: readonly string[], what: string): Record<string, unknown> {
  const found = withPresentNames(object, what);
  const unknown = Object.keys(found).find((name) => !names.includes(name));
  if (unknown !== undefined) throw new Error(`${what} has an unknown member ${JSON.stringify(unknown)}`);
  return found;
}
