import type { Principal } from '../../contracts/index.ts';
import type { GateCall, HeldQuestion } from '../../gate/index.ts';
import {
  approversOf,
  bothRules,
  hidden,
  isForNamed,
  mayDecide,
  personOf,
  policyOn,
  sooner,
  yesesNeeded,
} from '../../gate/index.ts';
import type { HostRules } from '../tools/index.ts';

/**
 * What one of several people has edited is asked of all of them: the same question about the edited arguments, held to what
 * policy obliges to for those as well. Undefined: policy denies them.
 */
export async function questionForAll(
  call: GateCall,
  rules: HostRules,
  args: Record<string, unknown>,
  asked: HeldQuestion,
): Promise<HeldQuestion | undefined> {
  const policy = await policyOn(call, args, rules);
  if (policy.outcome === 'deny') return undefined;
  const obliged: Pick<typeof policy, 'approvers' | 'expiresIn'> = policy.outcome === 'ask' ? policy : {};
  const approvers = bothRules(asked.approvers, obliged.approvers);
  const redact = hidden(asked.redact, policy.redact);
  const expiresIn = sooner(asked.expiresIn, obliged.expiresIn);
  return {
    ...asked,
    args,
    ...(approvers ? { approvers } : {}),
    ...(redact.length > 0 ? { redact } : {}),
    ...(expiresIn === undefined ? {} : { expiresIn }),
  };
}

/**
 * Whoever edits a call cannot make it one that others must decide on: the question that they are asked about the
 * edited one; undefined where nobody else need be asked, as those who said yes to the same are enough.
 */
export async function questionForOthers(
  call: GateCall,
  rules: HostRules,
  args: Record<string, unknown>,
  voters: readonly (Principal | undefined)[],
  asked: Pick<HeldQuestion, 'redact' | 'expiresIn' | 'expiresAt'> = {},
): Promise<HeldQuestion | undefined> {
  const policy = await policyOn(call, args, rules);
  const all = hidden(asked.redact, policy.redact);
  const { outcome, reason, hint, ruleId } = policy;
  if (outcome !== 'ask' || !isForNamed(policy)) return undefined;
  const expiresIn = sooner(asked.expiresIn, policy.expiresIn);
  const question: HeldQuestion = {
    args,
    ...approversOf(policy),
    ...(reason === undefined ? {} : { reason }),
    ...(hint === undefined ? {} : { hint }),
    ...(ruleId === undefined ? {} : { ruleId }),
    ...(all.length > 0 ? { redact: all } : {}),
    // It runs out when what was asked before does, or sooner.
    ...(expiresIn === undefined ? {} : { expiresIn }),
    ...(asked.expiresAt === undefined ? {} : { expiresAt: asked.expiresAt }),
  };
  const deciding = voters.filter((by) => mayDecide(policy, rules.principal, by));
  const isEnough = new Set(deciding.map((by) => (by ? personOf(by) : ''))).size >= yesesNeeded(policy);
  return isEnough ? undefined : question;
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
  return (await questionForOthers(call, rules, args, [by])) && 'others must decide on them';
}
