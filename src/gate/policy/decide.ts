import { untilLate } from '../../base/index.ts';
import type {
  ConfirmationRequest,
  DecisionRecord,
  PolicyDecision,
  PolicyRequest,
  ToolResult,
} from '../../contracts/index.ts';
import { canonicalJson, deepFreeze, messageOf } from '../../contracts/index.ts';
import type { Question } from '../questions/index.ts';
import { obligationsIn, orApprovers, sooner } from '../questions/index.ts';
import { errorResult, normaliseReturn } from '../result/index.ts';
import { validatedInTime } from '../schema/index.ts';
import { askHook } from './ask-hook.ts';
import { policyAskedWith, requestOf } from './asked-with.ts';
import type { Decision } from './decision.ts';
import { mintDecision } from './decision.ts';
import { deniedResult, policyDenied, reasonOf } from './denial.ts';
import { compareStrictness } from './deny-overrides.ts';
import type { ApprovalFloor, GateCall, GateRules } from './gate-call.ts';
import type { CheckedDecision } from './policy.ts';
import { evaluatePolicy, POLICY_TIMEOUT_MS, withRedact } from './policy.ts';

/** Somebody's yes, found in the log. */
export interface Approval {
  by: string;
  /** Differ from the call's where they were edited or changed by a hook. */
  args?: Record<string, unknown> | undefined;
  reason?: string | undefined;
  ruleId?: string | undefined;
  requestedBy?: string | undefined;
  redact?: string[] | undefined;
  asked?: DecisionRecord['asked'];
  /** A person has edited the arguments: no hook has seen them. */
  isEdited?: boolean | undefined;
}

export type Verdict =
  | { kind: 'run'; decision: Decision }
  /** Not run: the result says why. */
  | { kind: 'refuse'; result: ToolResult; record: DecisionRecord }
  /** Not run: a hook has the result. `insteadOf`: of a run that nobody had to be asked about; it is given for no other. */
  | { kind: 'result'; result: ToolResult; record: DecisionRecord; insteadOf?: Decision }
  | { kind: 'ask'; question: Question };

/**
 * Decides on one call: policy → before_tool (changed arguments are checked and evaluated again, the stricter word
 * counts) → the author's floor. Every doubt is a deny.
 */
export function decide(call: GateCall, rules: GateRules): Verdict | Promise<Verdict> {
  if (!rules.policy && !rules.beforeTool && !rules.needsApproval)
    return run(call, call.args, { by: 'policy', ...onBehalf(rules) });
  if (rules.beforeTool || rules.needsApproval) return decideSlowly(call, rules);
  // What was decided on is what runs: nobody who looks at the arguments on the way can change them in place.
  const args = deepFreeze(call.args);
  const policy = policyOn(call, args, rules);
  return policy instanceof Promise
    ? policy.then((said) => verdictOf(call, args, said, rules))
    : verdictOf(call, args, policy, rules);
}

/** What policy's word comes to, with that of a hook and of the author behind it. */
function verdictOf(
  call: GateCall,
  args: Record<string, unknown>,
  policy: CheckedDecision,
  rules: GateRules,
  hookAsks = rules.hookAsked?.(),
  floor?: string,
): Verdict {
  if (policy.outcome === 'deny') return denied(call, args, policy, rules);
  if (policy.outcome === 'allow' && !hookAsks && !floor) {
    return run(call, args, { by: 'policy', ruleId: policy.ruleId, ...recordFacts(call, args, rules, policy) });
  }
  return { kind: 'ask', question: question(args, policy, floor, hookAsks) };
}

/**
 * Decides on a call that somebody approved: policy is asked again, and may only say no. Of arguments that a person has
 * edited the before_tool hooks (`rules.beforeTool`) are asked too: what they make of them nobody has approved.
 */
export async function decideApproved(call: GateCall, rules: GateRules, approval: Approval): Promise<Verdict> {
  // Also what was said yes to as it was: the tool may have changed since. Its schema leaves alone what it has taken once.
  const checking = validatedInTime(rules.validate(approval.args ?? call.args), rules.signal);
  const checked = checking instanceof Promise ? await checking : checking;
  const isEdited = approval.args !== undefined && !sameArgs(approval.args, call.args);
  if (!checked.ok) {
    const what = isEdited ? 'edited arguments' : 'arguments';
    return unfit(`the ${what} do not fit: ${checked.message}`, {
      ...recordFacts(call, call.args, rules),
      ...approval,
    });
  }
  if (rules.isJudged && approval.args && !sameArgs(checked.args, approval.args)) {
    const message = `the edited arguments are not as the tool takes them (${canonicalJson(checked.args)}); no policy has decided on those`;
    return unfit(message, { ...recordFacts(call, call.args, rules), ...approval });
  }
  const args = deepFreeze(checked.args);
  const asked = policyOn(call, args, rules);
  const answer = asked instanceof Promise ? await asked : asked;
  // What was to be hidden before an edit is hidden after it.
  const policy = withRedact(answer, approval.redact);
  const { redact: _, args: __, isEdited: isNew, ...why } = approval;
  if (policy.outcome === 'deny') return denied(call, args, policy, rules);
  const refused =
    isNew && rules.beforeTool ? await hookOnEdited(call, args, rules, rules.beforeTool, policy) : undefined;
  if (refused) return refused;
  return run(call, args, { ...recordFacts(call, args, rules, policy), ...why });
}

async function hookOnEdited(
  call: GateCall,
  args: Record<string, unknown>,
  rules: GateRules,
  hook: NonNullable<GateRules['beforeTool']>,
  policy: PolicyDecision,
): Promise<Verdict | undefined> {
  const facts = recordFacts(call, args, rules, policy);
  const { verdict, unasked, changed } = await hooked(args, rules, hook, facts);
  // Somebody has said yes to a run.
  if (unasked) return undefined;
  if (verdict || !changed) return verdict;
  const reason = 'a before_tool hook changes the edited arguments, and nobody has approved what it makes of them';
  return refuse(deniedResult(reason), reason, { by: 'hook', ...facts });
}

/** What the hooks say of these arguments: a verdict, one for a call that runs unasked, other arguments, or nothing. */
async function hooked(
  args: Record<string, unknown>,
  rules: GateRules,
  hook: NonNullable<GateRules['beforeTool']>,
  facts: Omit<Approval, 'by'>,
): Promise<{ verdict?: Verdict; unasked?: Verdict; changed?: Record<string, unknown> }> {
  const answer = await askHook(hook, args, rules.signal);
  if (answer.kind === 'result') {
    const verdict = answered(answer.value, facts);
    return answer.ifAllowed ? { unasked: verdict } : { verdict };
  }
  if (answer.kind === 'block') {
    return { verdict: refuse(deniedResult(answer.reason), answer.reason, { by: 'hook', ...facts }) };
  }
  if (answer.kind === 'unfit') return { verdict: unfitOfHook(answer.reason, facts) };
  // Checked first: what is no JSON cannot be compared either.
  const checked = answer.args && (await validatedInTime(rules.validate(answer.args), rules.signal));
  if (checked && !checked.ok) return { verdict: unfitOfHook(checked.message, facts) };
  return checked && !sameArgs(checked.args, args) ? { changed: checked.args } : {};
}

async function decideSlowly(call: GateCall, rules: GateRules): Promise<Verdict> {
  let args = deepFreeze(call.args);
  const asked = policyOn(call, args, rules);
  let policy = asked instanceof Promise ? await asked : asked;
  if (policy.outcome === 'deny') return denied(call, args, policy, rules);
  let unasked: Verdict | undefined;
  if (rules.beforeTool) {
    const facts = recordFacts(call, args, rules, policy);
    const said = await hooked(args, rules, rules.beforeTool, facts);
    const { verdict, changed } = said;
    unasked = said.unasked;
    if (verdict) return verdict;
    if (changed) {
      args = deepFreeze(changed);
      policy = stricter(policy, await policyOn(call, args, rules));
      if (policy.outcome === 'deny') return denied(call, args, policy, rules);
    }
  }
  const hookAsks = rules.hookAsked?.();
  const asksFloor = policy.outcome === 'allow' && !hookAsks && rules.needsApproval !== undefined;
  const floor = asksFloor ? await authorAsks(rules.needsApproval, args, rules) : undefined;
  const judged = verdictOf(call, args, policy, rules, hookAsks, floor);
  return unasked && judged.kind === 'run' ? Object.assign(unasked, { insteadOf: judged.decision }) : judged;
}

function onBehalf({ principal }: GateRules): Pick<DecisionRecord, 'requestedBy'> {
  return principal === undefined ? {} : { requestedBy: principal.id };
}

/** What a record says whatever was decided: on whose behalf, what policy was asked with and what it wants hidden. */
export function recordFacts(
  call: GateCall,
  args: Record<string, unknown>,
  rules: GateRules,
  { redact }: PolicyDecision = { outcome: 'allow' },
): Pick<DecisionRecord, 'requestedBy' | 'redact' | 'asked'> {
  return {
    ...onBehalf(rules),
    ...(redact === undefined || redact.length === 0 ? {} : { redact }),
    asked: policyAskedWith(call, rules, isAnnounced(call, args) ? undefined : args),
  };
}

async function authorAsks(
  floor: ApprovalFloor | undefined,
  args: Record<string, unknown>,
  { signal, policyTimeoutMs = POLICY_TIMEOUT_MS }: GateRules,
): Promise<string | undefined> {
  if (floor === undefined || floor === false) return undefined;
  if (floor === true) return 'the tool asks for approval';
  try {
    return (await untilLate(floor(args), policyTimeoutMs, signal)) ? 'the tool asks for approval' : undefined;
  } catch (error) {
    return `the tool could not say whether it needs approval: ${messageOf(error)}`;
  }
}

/** What a policy is asked about a call. */
export function policyRequest(call: GateCall, args: Record<string, unknown>, rules: GateRules): PolicyRequest {
  const { principal } = rules;
  return requestOf(
    call.tool.name,
    args,
    { ...policyAskedWith(call, rules), ...(principal ? { principal } : {}) },
    call.sessionId,
  );
}

/** What policy says to a call with these arguments, with those who answer where it asks and names nobody. */
export function policyOn(
  call: GateCall,
  args: Record<string, unknown>,
  rules: GateRules,
): CheckedDecision | Promise<CheckedDecision> {
  const { policy, policyTimeoutMs: timeoutMs, signal, approvers } = rules;
  const said = evaluatePolicy(policy, policyRequest(call, args, rules), { timeoutMs, signal });
  if (!approvers) return said;
  const named = (each: CheckedDecision) => (each.outcome === 'ask' ? orApprovers(each, approvers) : each);
  return said instanceof Promise ? said.then(named) : named(said);
}

/** Of two that are as strict, the later: it is about the arguments that would run. */
function stricter(earlier: CheckedDecision, later: CheckedDecision): CheckedDecision {
  const [lax, strict] = compareStrictness(later, earlier) < 0 ? [later, earlier] : [earlier, later];
  return withRedact(strict, lax.redact);
}

function question(
  args: Record<string, unknown>,
  policy: PolicyDecision,
  floor: string | undefined,
  asked: ConfirmationRequest | undefined,
): Question {
  const made: Question = { args };
  const reason = policy.reason ?? floor;
  const hint = asked?.hint ?? policy.hint;
  if (reason !== undefined) made.reason = reason;
  if (hint !== undefined) made.hint = hint;
  if (asked?.payload !== undefined) made.payload = asked.payload;
  if (policy.ruleId !== undefined) made.ruleId = policy.ruleId;
  return Object.assign(made, obligationsIn({ ...policy, expiresIn: sooner(policy.expiresIn, asked?.expiresIn) }));
}

function run(call: GateCall, args: Record<string, unknown>, why: Omit<Approval, 'isEdited'>): Verdict {
  const record: DecisionRecord = { outcome: 'approved', by: why.by };
  if (why.ruleId !== undefined) record.ruleId = why.ruleId;
  if (why.reason !== undefined) record.reason = why.reason;
  if (why.requestedBy !== undefined) record.requestedBy = why.requestedBy;
  if (why.redact !== undefined) record.redact = why.redact;
  if (why.asked !== undefined) record.asked = withoutArgs(why.asked);
  if (!isAnnounced(call, args)) record.args = args;
  return { kind: 'run', decision: mintDecision(call.callId, args, record) };
}

/** They are in the record itself. */
function withoutArgs({ args: _, ...asked }: NonNullable<DecisionRecord['asked']>): DecisionRecord['asked'] {
  return asked;
}

function denied(call: GateCall, args: Record<string, unknown>, policy: PolicyDecision, rules: GateRules): Verdict {
  const why = { by: 'policy', ruleId: policy.ruleId, ...recordFacts(call, args, rules, policy) };
  return refuse(policyDenied(policy), reasonOf(policy), why);
}

function unfit(message: string, why: Approval): Verdict {
  return refuse(errorResult('invalid_args', message), message, why);
}

const unfitOfHook = (message: string, facts: Omit<Approval, 'by'>): Verdict =>
  unfit(`a hook's arguments do not fit: ${message}`, { by: 'hook', ...facts });

function refuse(result: ToolResult, reason: string, why: Approval): Verdict {
  return {
    kind: 'refuse',
    result,
    record: {
      outcome: 'denied',
      by: why.by,
      reason,
      ...(why.ruleId === undefined ? {} : { ruleId: why.ruleId }),
      ...(why.requestedBy === undefined ? {} : { requestedBy: why.requestedBy }),
      ...(why.redact === undefined ? {} : { redact: why.redact }),
      ...(why.asked === undefined ? {} : { asked: why.asked }),
    },
  };
}

function answered(value: unknown, facts: Partial<DecisionRecord>): Verdict {
  return {
    kind: 'result',
    result: normaliseReturn(value),
    record: {
      ...facts,
      outcome: 'denied',
      by: 'hook',
      reason: 'a before_tool hook gave the result; the tool did not run',
    },
  };
}

function isAnnounced({ args: own, announced = own }: GateCall, args: Record<string, unknown>): boolean {
  return sameArgs(args, announced);
}

function sameArgs(a: Record<string, unknown>, b: Record<string, unknown>): boolean {
  return a === b || canonicalJson(a) === canonicalJson(b);
}
