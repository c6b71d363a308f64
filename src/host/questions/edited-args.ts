import type { PolicyRequest, Principal } from '../../contracts/index.ts';
import type { CheckedDecision, GateCall, HeldQuestion } from '../../gate/index.ts';
import {
  approversOf,
  bothRules,
  hidden,
  isForNamed,
  mayDecide,
  personOf,
  policyAskedWith,
  policyOn,
  requestOf,
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

/** What policy would say to other arguments of an open call, before anybody answers. */
export interface WordOnEdit {
  /** What it was asked. */
  request: PolicyRequest;
  decision: CheckedDecision;
  /** Why the tool does not take them. Policy is asked all the same. */
  unfit?: string;
  /** Policy wants other people than this one to decide on them, or more. */
  isForOthers: boolean;
}

/** Nothing is stored, no hook is asked: a hook may still refuse what is edited. */
export async function wordOnEdit(
  call: GateCall,
  rules: HostRules,
  given: Record<string, unknown>,
  by: Principal,
): Promise<WordOnEdit> {
  const checked = await rules.validate(given);
  const args = checked.ok ? checked.args : given;
  const decision = await policyOn(call, args, rules);
  return {
    request: requestOf(call.tool.name, args, policyAskedWith(call, rules), call.sessionId),
    decision,
    ...(checked.ok ? {} : { unfit: checked.message }),
    isForOthers: (await questionForOthers(call, rules, args, [by])) !== undefined,
  };
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
