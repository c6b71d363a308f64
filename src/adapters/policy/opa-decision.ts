import { isObject } from '../../base/index.ts';
import type { PolicyDecision } from '../../contracts/index.ts';
import { policyOutcome } from '../../contracts/index.ts';

/** What rules of both spellings may say, and how it is called here. */
const members: Record<string, string> = {
  outcome: 'outcome',
  reason: 'reason',
  hint: 'hint',
  ruleId: 'ruleId',
  rule_id: 'ruleId',
  approvers: 'approvers',
  expiresIn: 'expiresIn',
  expires_in: 'expiresIn',
  redact: 'redact',
};
const approverMembers: Record<string, string> = {
  roles: 'roles',
  notRequester: 'notRequester',
  not_requester: 'notRequester',
  quorum: 'quorum',
};

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

function renamed(
  object: Record<string, unknown>,
  names: Record<string, string>,
  what: string,
): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(object)) {
    const name = Object.hasOwn(names, key) ? names[key] : undefined;
    if (name === undefined) throw new Error(`${what} has an unknown member ${JSON.stringify(key)}`);
    if (name in found) throw new Error(`${what} says ${name} twice`);
    found[name] = value;
  }
  return found;
}
