import type { Principal } from '../../contracts/index.ts';
import type { GateCall, Question } from '../../gate/index.ts';
import { approversOf, hidden, isForNamed, mayDecide, policyOn, yesesNeeded } from '../../gate/index.ts';
import type { HostRules } from '../tools/index.ts';

/**
 * Whoever edits a call cannot make it one that others must decide on: the question that they are asked about the
 * edited one; undefined where nobody else need be asked.
 */
export async function questionForOthers(
  call: GateCall,
  rules: HostRules,
  args: Record<string, unknown>,
  by: Principal | undefined,
  redact?: readonly string[],
): Promise<Question | undefined> {
  const policy = await policyOn(call, args, rules);
  const all = hidden(redact, policy.redact);
  const { outcome, reason, hint, ruleId } = policy;
  if (outcome !== 'ask' || !isForNamed(policy)) return undefined;
  const question: Question = {
    args,
    ...approversOf(policy),
    ...(reason === undefined ? {} : { reason }),
    ...(hint === undefined ? {} : { hint }),
    ...(ruleId === undefined ? {} : { ruleId }),
    ...(all.length > 0 ? { redact: all } : {}),
  };
  const decides = yesesNeeded(policy) === 1 && mayDecide(policy, rules.principal, by);
  return decides ? undefined : question;
}

/** Why an agent's own question may not be answered with these arguments; undefined if it may. */
export async function whyNotEdited(
  call: GateCall,
  rules: HostRules,
  args: Record<string, unknown>,
  by: Principal,
): Promise<string | undefined> {
  const policy = await policyOn(call, args, rules);
  if (policy.outcome === 'deny') return policy.reason ?? 'policy denies them';
  return (await questionForOthers(call, rules, args, by)) && 'others must decide on them';
}
