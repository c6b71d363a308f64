import { commonTime } from '../../base/index.ts';
import type { ApprovalRequest, ApproverRule, PutQuestion, ReportedRequest } from '../../contracts/index.ts';
import { canonicalJson, isPolicyQuestion } from '../../contracts/index.ts';
import { approversOf, bothRules } from './approvers.ts';
import type { Obligations } from './obligations.ts';

// The terms of a question: what it is held to from when it is asked until it is answered. Until when it is open and what
// time makes of it is said here alone; what is to happen at another moment than the end (a word to more people, say) has
// that moment in `changesAt`: it is looked at again then, by the run or by whoever looks first.

/** What is to be asked about a call, on the terms of policy. */
export interface Question extends Obligations {
  /** What would run. */
  args: Record<string, unknown>;
  reason?: string;
  hint?: string;
  ruleId?: string;
  /** Of a hook's own question. */
  payload?: unknown;
}

/** A question with the time at which it runs out, epoch milliseconds. */
export interface HeldQuestion extends Question {
  expiresAt?: number;
}

/** What a question has come to. `expired`: nobody answered in time. */
export type QuestionState = 'open' | 'expired' | 'accepted' | 'declined' | 'cancelled';

const STATES = { accept: 'accepted', decline: 'declined', cancel: 'cancelled' } as const;

/** What a question has come to at `now`, epoch milliseconds. An answer in time counts, whenever it is read. */
export function questionState(
  { answer, expiresAt }: { answer?: { action: keyof typeof STATES }; expiresAt?: number | undefined },
  now = commonTime(),
): QuestionState {
  if (answer) return STATES[answer.action];
  return hasExpired(expiresAt, now) ? 'expired' : 'open';
}

/** When a question that is asked now runs out, epoch milliseconds. */
export function expiryFromNow({ expiresIn }: { expiresIn?: number | undefined }): number | undefined {
  return expiresIn === undefined ? undefined : commonTime() + expiresIn * 1000;
}

/** When nobody can say yes any more, epoch milliseconds: of policy's time, and of what the question was put with. */
export function expiryOf({ requestedAt }: ReportedRequest, { expiresIn, expiresAt }: HeldQuestion): number | undefined {
  const own = expiresIn === undefined ? undefined : Date.parse(requestedAt) + expiresIn * 1000;
  return own === undefined || expiresAt === undefined ? (own ?? expiresAt) : Math.min(own, expiresAt);
}

export function hasExpired(expiresAt: number | undefined, now = commonTime()): boolean {
  return expiresAt !== undefined && expiresAt <= now;
}

/** When a question that is shown has to be judged again, epoch milliseconds; undefined: never by itself. */
export function changesAt({ expiresAt }: ReportedRequest): number | undefined {
  return expiresAt === undefined ? undefined : Date.parse(expiresAt);
}

/** Milliseconds until the first of these has to be judged again; undefined: none does by itself. */
export function untilFirstChange(questions: readonly ReportedRequest[]): number | undefined {
  let first = Number.POSITIVE_INFINITY;
  for (const question of questions) first = Math.min(first, changesAt(question) ?? first);
  return first === Number.POSITIVE_INFINITY ? undefined : Math.max(0, first - commonTime()) + 1;
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

/** The rule that a host has where policy asks, or a question is put, and nobody is named. */
export function orApprovers<T extends object>(
  terms: T & Pick<Obligations, 'approvers'>,
  approvers: ApproverRule | undefined,
): T {
  return !terms.approvers && approvers ? { ...terms, approvers } : terms;
}

/** What an open question shows of its terms; how long is said beside it. */
export function shownTerms(terms: Obligations): Pick<Obligations, 'approvers' | 'redact'> {
  return { ...approversOf(terms), ...(terms.redact ? { redact: terms.redact } : {}) };
}

/** What this question was put with. */
export function putAs({ questions = [] }: ReportedRequest, requestId: string): PutQuestion | undefined {
  return questions.findLast((question) => question.requestId === requestId);
}

/** What policy's newest question about the call was put with. */
export function putByPolicy({ questions = [] }: ReportedRequest): PutQuestion | undefined {
  return questions.findLast(({ requestId }) => isPolicyQuestion(requestId));
}

/**
 * What is to be kept with a host's question about a request; undefined where it is kept already.
 * @param args those of the call as a hook has changed them
 */
export function toPut(
  { requestId, approval, expiresAt }: Pick<ReportedRequest, 'requestId' | 'approval' | 'expiresAt'>,
  request: ReportedRequest,
  args?: Record<string, unknown>,
): PutQuestion | undefined {
  const { reason, ruleId, approvers, redact } = approval ?? {};
  const known = putAs(request, requestId);
  const put: PutQuestion = {
    requestId,
    ...(reason === undefined ? {} : { reason }),
    ...(ruleId === undefined ? {} : { ruleId }),
    ...(approvers ? { approvers } : {}),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(redact ? { redact } : {}),
    ...(args ? { args } : {}),
    ...shownWith(known && putsOf(request, requestId).length >= MOST_SHOWN ? known : shownBy(approval)),
  };
  return known && canonicalJson(known) === canonicalJson(put) ? undefined : put;
}

type Shown = Pick<PutQuestion, 'digest' | 'remember'>;

/** As often is kept what one question has shown: a preview may be another each time that it is made. */
const MOST_SHOWN = 16;

function shownBy({ previewDigest: digest, remember = [] }: Partial<ApprovalRequest> = {}): Shown {
  return {
    ...(digest === undefined ? {} : { digest }),
    ...(remember.length > 0 ? { remember: remember.map(({ scope }) => scope) } : {}),
  };
}

function putsOf({ questions = [] }: ReportedRequest, requestId: string): PutQuestion[] {
  return questions.filter((question) => question.requestId === requestId);
}

/** What a question shows now, or what it has shown before where that was too often another. */
function shownWith({ digest, remember }: Shown): Shown {
  return { ...(digest === undefined ? {} : { digest }), ...(remember === undefined ? {} : { remember }) };
}

/**
 * What is another about a question than it was shown: the call, by the newest showing, for whoever does not say what they
 * saw; the options to be remembered, by any, since an answer says only the number of one.
 */
export function changedSinceShown(
  { requestId, approval }: Pick<ReportedRequest, 'requestId' | 'approval'>,
  request: ReportedRequest,
): { call: boolean; remember: boolean } {
  const puts = putsOf(request, requestId).filter(({ digest }) => digest !== undefined);
  const now = shownBy(approval);
  const options = canonicalJson(now.remember ?? []);
  return {
    call: puts.length > 0 && puts.at(-1)?.digest !== now.digest,
    remember: puts.some(({ remember = [] }) => canonicalJson(remember) !== options),
  };
}

/** JSON pointers of all lists, each once. */
export function hidden(...lists: readonly (readonly string[] | undefined)[]): string[] {
  return [...new Set(lists.flatMap((list) => list ?? []))];
}
