import type { DecisionRecord, ReportedRequest, ToolResult } from '../../contracts/index.ts';
import { canonicalJson } from '../../contracts/index.ts';
import type { ApproverTerms, GateCall, HeldQuestion, Question } from '../../gate/index.ts';
import {
  approversOf,
  expiryFromNow,
  heldTo,
  hidden,
  isForNamed,
  policyDenied,
  policyOn,
  putByPolicy,
  reasonOf,
  recordFacts,
  votesFor,
  yesesNeeded,
} from '../../gate/index.ts';
import type { HostRules } from '../tools/index.ts';
import { approvalOf } from '../tools/index.ts';

/**
 * A question about a call that policy has let run before, of its handler or after a crash: held to what policy obliges
 * to now and has obliged to before. What policy denies now is not asked.
 */
export async function underPolicy(
  request: ReportedRequest,
  call: GateCall,
  rules: HostRules,
  question: Question,
): Promise<{ kind: 'ask'; question: HeldQuestion } | { kind: 'refuse'; result: ToolResult; record: DecisionRecord }> {
  const policy = await policyOn(call, question.args, rules);
  const { outcome, reason, ruleId } = policy;
  if (outcome === 'deny') {
    const facts = recordFacts(call, question.args, rules, policy);
    const record: DecisionRecord = { ...facts, outcome: 'denied', by: 'policy', reason: reasonOf(policy) };
    if (ruleId !== undefined) record.ruleId = ruleId;
    return { kind: 'refuse', result: policyDenied(policy), record };
  }
  const asked = outcome === 'ask' ? policy : {};
  // The call is older than this question.
  const expiresAt = expiryFromNow(asked);
  const redact = hidden(question.redact, policy.redact);
  const now: HeldQuestion = {
    ...(reason === undefined ? {} : { reason }),
    ...(ruleId === undefined ? {} : { ruleId }),
    ...question,
    ...approversOf(asked),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(redact.length > 0 ? { redact } : {}),
  };
  return { kind: 'ask', question: heldTo(now, putByPolicy(request), false) };
}

/** Who has to answer what the handler of a running call asks: as policy obliges to now, and has obliged to before. */
export async function obliged(
  request: ReportedRequest,
  call: GateCall,
  rules: HostRules,
): Promise<ApproverTerms | 'denied'> {
  const { args = call.args } = approvalOf(request);
  const under = await underPolicy(request, call, rules, { args });
  if (under.kind === 'refuse') return 'denied';
  return under.question;
}

/**
 * What policy wants to be asked now about a call that was let run before; undefined where whoever let it run satisfies
 * what policy says now.
 */
export async function wantedSince(
  request: ReportedRequest,
  call: GateCall,
  rules: HostRules,
): Promise<Question | undefined> {
  const { by, args } = approvalOf(request);
  const question: Question = { args: args ?? call.args };
  const policy = await policyOn(call, question.args, rules);
  if (policy.outcome !== 'ask') return undefined;
  if (by.startsWith('user:') && haveSaidYes(request, by.slice('user:'.length), policy, rules)) return undefined;
  const under = await underPolicy(request, call, rules, question);
  return under.kind === 'ask' ? under.question : undefined;
}

/** Whoever let it run, with those who have said yes to the same, are the people that the rule wants. */
function haveSaidYes(request: ReportedRequest, id: string, terms: ApproverTerms, { principal }: HostRules): boolean {
  if (!isForNamed(terms)) return true;
  const { answers = [] } = request;
  const last = answers.findLast(({ action, by }) => action === 'accept' && by?.id === id);
  if (last?.digest === undefined) return false;
  const { args } = approvalOf(request);
  // Who edited an earlier question to what was approved has said yes to the same.
  const carried = args
    ? answers.filter(
        (answer) => answer.action === 'accept' && answer.requestId !== last.requestId && sameJson(answer.args, args),
      )
    : [];
  const ballot = { requestId: last.requestId, digest: last.digest, args: last.args, carried };
  return votesFor(answers, ballot, terms, principal).size >= yesesNeeded(terms);
}

const sameJson = (a: Record<string, unknown> | undefined, b: Record<string, unknown>): boolean =>
  a !== undefined && canonicalJson(a) === canonicalJson(b);
