import type { PendingRequest, PutQuestion } from '../contracts/index.ts';
import { canonicalJson } from '../contracts/index.ts';
import type { Question } from '../gate/index.ts';
import { bothRules } from './approver.ts';
import type { ApprovalQuestion } from './options.ts';
import { isPolicyQuestion } from './question-id.ts';
import { hidden } from './step.ts';

/** A question with the time at which it runs out, epoch milliseconds. */
export interface Held extends Question {
  expiresAt?: number;
}

/** A question, held to what it was put with as well: whichever is stricter. */
export function heldTo(question: Held, put: PutQuestion | undefined, expires = true): Held {
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

/** What this question was put with. */
export function putAs({ questions = [] }: PendingRequest, requestId: string): PutQuestion | undefined {
  return questions.findLast((question) => question.requestId === requestId);
}

/** What policy's newest question about the call was put with. */
export function putByPolicy({ questions = [] }: PendingRequest): PutQuestion | undefined {
  return questions.findLast(({ requestId }) => isPolicyQuestion(requestId));
}

/** What is to be kept with a question; undefined where it is kept already. */
export function toPut({ requestId, approval, expiresAt, questions = [] }: ApprovalQuestion): PutQuestion | undefined {
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
