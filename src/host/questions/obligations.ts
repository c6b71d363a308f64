import type { ApproverRule, DecisionRecord, PendingRequest, PutQuestion, ToolResult } from '../../contracts/index.ts';
import { canonicalJson, isPolicyQuestion } from '../../contracts/index.ts';
import type { GateCall, Question } from '../../gate/index.ts';
import { policyDenied, policyOn, reasonOf, recordFacts } from '../../gate/index.ts';
import type { ApprovalQuestion } from '../terms/index.ts';
import type { HostRules } from '../tools/index.ts';
import { approvalOf } from '../tools/index.ts';
import { bothRules, votesFor } from './approver-rule.ts';
import { hidden } from './step.ts';

/** A question with the time at which it runs out, epoch milliseconds. */
export interface HeldQuestion extends Question {
  expiresAt?: number;
}

/** A question, held to what it was put with as well: whichever is stricter. */
export function heldTo(question: HeldQuestion, put: PutQuestion | undefined, expires = true): HeldQuestion {
  if (!put) return question;
  const approvers = bothRules(put.approvers, question.approvers);
  const redact = hidden(put.redact, question.redact);
  const times = [question.expiresAt, expires && put.expiresAt ? Date.parse(put.expiresAt) : undefined];
  const expiresAt = Math.min(...times.map((time) => time ?? Number.POSITIVE_INFINITY));
  return {
    ...(put.reason === undefined ? {} : { reason: put.reason }),
    ...(put.ruleId === undefined ? {} : { ruleId: put.ruleId }),
    ...question,
    ...(approvers ? { approvers } : {}),
    ...(redact.length > 0 ? { redact } : {}),
    ...(Number.isFinite(expiresAt) ? { expiresAt } : {}),
  };
}

/**
 * A question about a call that policy has let run before, of its handler or after a crash: held to what policy obliges
 * to now and has obliged to before. What policy denies now is not asked.
 */
export async function underPolicy(
  request: PendingRequest,
  call: GateCall,
  rules: HostRules,
  question: Question,
): Promise<{ kind: 'ask'; question: HeldQuestion } | { kind: 'refuse'; result: ToolResult; record: DecisionRecord }> {
  const policy = await policyOn(call, question.args, rules);
  const { outcome, approvers, reason, ruleId, redact, expiresIn } = policy;
  if (outcome === 'deny') {
    const facts = recordFacts(call, question.args, rules, policy);
    const record: DecisionRecord = { ...facts, outcome: 'denied', by: 'policy', reason: reasonOf(policy) };
    if (ruleId !== undefined) record.ruleId = ruleId;
    return { kind: 'refuse', result: policyDenied(policy), record };
  }
  const asks = outcome === 'ask_user';
  const all = hidden(question.redact, redact);
  const now: HeldQuestion = {
    ...(reason === undefined ? {} : { reason }),
    ...(ruleId === undefined ? {} : { ruleId }),
    ...question,
    ...(asks && approvers ? { approvers } : {}),
    // The call is older than this question.
    ...(asks && expiresIn !== undefined ? { expiresAt: Date.now() + expiresIn * 1000 } : {}),
    ...(all.length > 0 ? { redact: all } : {}),
  };
  return { kind: 'ask', question: heldTo(now, putByPolicy(request), false) };
}

/** Who has to answer what the handler of a running call asks: as policy obliges to now, and has obliged to before. */
export async function obliged(
  request: PendingRequest,
  call: GateCall,
  rules: HostRules,
): Promise<{ approvers?: ApproverRule } | 'denied'> {
  const { args = call.args } = approvalOf(request);
  const under = await underPolicy(request, call, rules, { args });
  if (under.kind === 'refuse') return 'denied';
  const { approvers } = under.question;
  return approvers ? { approvers } : {};
}

/**
 * What policy wants to be asked now about a call that was let run before; undefined where whoever let it run satisfies
 * what policy says now.
 */
export async function wantedSince(
  request: PendingRequest,
  call: GateCall,
  rules: HostRules,
): Promise<Question | undefined> {
  const { by, args } = approvalOf(request);
  const question: Question = { args: args ?? call.args };
  const { outcome, approvers } = await policyOn(call, question.args, rules);
  if (outcome !== 'ask_user') return undefined;
  if (by.startsWith('user:') && haveSaidYes(request, by.slice('user:'.length), approvers, rules)) return undefined;
  const under = await underPolicy(request, call, rules, question);
  return under.kind === 'ask' ? under.question : undefined;
}

/** Whoever let it run, with those who have said yes to the same, are the people that the rule wants. */
function haveSaidYes(
  { answers = [] }: PendingRequest,
  id: string,
  rule: ApproverRule | undefined,
  { principal }: HostRules,
): boolean {
  if (!rule) return true;
  const last = answers.findLast(({ action, by }) => action === 'accept' && by?.id === id);
  if (last?.digest === undefined) return false;
  const ballot = { requestId: last.requestId, digest: last.digest, args: last.args };
  return votesFor(answers, ballot, rule, principal).size >= (rule.quorum ?? 1);
}

/** What this question was put with. */
export function putAs({ questions = [] }: PendingRequest, requestId: string): PutQuestion | undefined {
  return questions.findLast((question) => question.requestId === requestId);
}

/** What policy's newest question about the call was put with. */
export function putByPolicy({ questions = [] }: PendingRequest): PutQuestion | undefined {
  return questions.findLast(({ requestId }) => isPolicyQuestion(requestId));
}

/** What is to be kept with a question about a request; undefined where it is kept already. */
export function toPut(
  { requestId, approval, expiresAt }: ApprovalQuestion,
  { questions = [] }: PendingRequest,
): PutQuestion | undefined {
  const { reason, ruleId, approvers, redact } = approval;
  const put: PutQuestion = {
    requestId,
    ...(reason === undefined ? {} : { reason }),
    ...(ruleId === undefined ? {} : { ruleId }),
    ...(approvers ? { approvers } : {}),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(redact ? { redact } : {}),
  };
  const known = questions.findLast((question) => question.requestId === requestId);
  return known && canonicalJson(known) === canonicalJson(put) ? undefined : put;
}
