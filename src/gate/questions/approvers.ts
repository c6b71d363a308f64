import type { ApproverRule, HostAnswer, Principal, ReportedRequest } from '../../contracts/index.ts';
import { CoxswainError, canonicalJson } from '../../contracts/index.ts';
import type { ApproverTerms } from '../../session/index.ts';
import { awaitsMore, nameOfPrincipal, personOf, rolesOf, whyNotApprover } from '../../session/index.ts';

// Who may answer an open question, how many must, and which answer decides: told from its terms, for all parts alike.

type Answers = NonNullable<ReportedRequest['answers']>;

/** Without a rule anybody may, with one nobody who is not named. */
export function mayDecide(terms: ApproverTerms, requestedBy: Principal, by: Principal | undefined): boolean {
  return !terms.approvers || (by !== undefined && whyNotApprover(terms, requestedBy, by) === undefined);
}

/** Policy says who answers, or how many: not just anybody, and no program in their stead. */
export function isForNamed({ approvers }: ApproverTerms): boolean {
  return approvers !== undefined;
}

/** The terms by themselves, as a question is put and shown with them: no member where anybody may answer. */
export function approversOf({ approvers }: ApproverTerms): { approvers?: ApproverRule } {
  return approvers ? { approvers } : {};
}

/** How many different people must say yes to the same thing; who acts for somebody speaks for that person. */
export function yesesNeeded({ approvers }: ApproverTerms): number {
  return approvers?.quorum ?? 1;
}

/** @throws CoxswainError `PERMISSION_DENIED / E_NOT_APPROVER` */
export function assertApprover(
  requestId: string,
  terms: ApproverTerms | undefined,
  requestedBy: Principal,
  by: Principal,
): void {
  const fault = whyNotApprover(terms, requestedBy, by);
  if (fault !== undefined) throw notApprover(requestId, by, fault);
}

export function notApprover(requestId: string, by: Principal, why: string): CoxswainError {
  return new CoxswainError('PERMISSION_DENIED', 'E_NOT_APPROVER', `${by.id} may not decide on ${requestId}: ${why}`, {
    details: { requestId, by: by.id },
  });
}

/**
 * Why somebody who holds no session may not decide on what is open in one; undefined if they may. Where policy names
 * nobody, that is for whose session it is and for whoever asked.
 */
export function whyNotOpen({ userId, request }: AskedFor, by: Principal): string | undefined {
  const { questions = [], requestId, approval, approvers } = request;
  // What the handler of a running call asks is put with its approvers, as nothing else that is open is.
  const put = questions.findLast((question) => question.requestId === requestId);
  const terms = { approvers: approval?.approvers ?? approvers ?? put?.approvers };
  const requestedBy = request.approval?.requestedBy ?? request.requestedBy ?? { id: userId };
  if (namesPeople(terms)) return whyNotApprover(terms, requestedBy, by);
  const who = nameOfPrincipal(by);
  if (who === userId || who === nameOfPrincipal(requestedBy)) return undefined;
  const needed = yesesNeeded(terms);
  const several = needed > 1 ? `, though it wants ${needed} people: give it roles or notRequester` : '';
  return `the session is somebody else’s and policy names nobody${several}`;
}

/** What is open, and in whose session. */
export interface AskedFor {
  userId: string;
  request: AskedRequest;
}

/** Its own `approvers`: of a question that is not asked any more. */
export type AskedRequest = Pick<ReportedRequest, 'approval' | 'requestedBy' | 'questions'> &
  ApproverTerms & { requestId?: string };

/** How many it takes is no word on who they are. */
function namesPeople({ approvers }: ApproverTerms): boolean {
  return approvers !== undefined && (approvers.notRequester === true || rolesOf(approvers).length > 0);
}

/** The terms in words, for people who look for what they may answer. */
export function wordsOfApprovers({ approvers: { roles = [], notRequester, quorum } = {} }: ApproverTerms): string[] {
  return [
    ...(roles.length > 0 ? [`roles ${roles.join(', ')}`] : []),
    ...(notRequester ? ['not by the requester'] : []),
    ...(quorum ? [`${quorum} must approve`] : []),
  ];
}

/** A yes that does not decide by itself: more people must say it. */
export function isVote(answer: HostAnswer): boolean {
  return answer.kind === 'approve' && awaitsMore(answer);
}

/** Somebody has answered: this question, or any about the call. A vote is none yet. */
export function hasAnswer({ answers = [] }: Pick<ReportedRequest, 'answers'>, requestId?: string): boolean {
  return answers.some((answer) => !answer.quorum && (requestId ?? answer.requestId) === answer.requestId);
}

/** What a yes is to. */
export interface Ballot {
  requestId: string;
  digest: string;
  /** Edited arguments. */
  args?: Record<string, unknown> | undefined;
  /** Yeses to an earlier question about the call, edited to what this one shows: they are to the same. */
  carried?: Answers | undefined;
}

/** Different people who have said yes to the same thing, and may. */
export function votesFor(answers: Answers, ballot: Ballot, terms: ApproverTerms, requestedBy: Principal): Set<string> {
  return new Set(yesesTo(answers, ballot, terms, requestedBy).map(({ by }) => (by ? personOf(by) : '')));
}

function yesesTo(answers: Answers, ballot: Ballot, terms: ApproverTerms, requestedBy: Principal): Answers[number][] {
  const wanted = canonicalJson({ args: ballot.args ?? null });
  const given = answers.filter(
    ({ requestId, action, by, digest, args }) =>
      requestId === ballot.requestId &&
      action === 'accept' &&
      digest === ballot.digest &&
      canonicalJson({ args: args ?? null }) === wanted &&
      mayDecide(terms, requestedBy, by),
  );
  const before = ballot.args ? [] : (ballot.carried ?? []).filter(({ by }) => mayDecide(terms, requestedBy, by));
  return [...before, ...given];
}

/**
 * The first yes with edited arguments to a question that needs several: what it says is asked of the others, as no one
 * person's edit runs. Undefined where none was edited, or one person is enough.
 */
export function editedVote(
  answers: Answers,
  asked: Omit<Ballot, 'args'>,
  terms: ApproverTerms,
  requestedBy: Principal,
): Answers[number] | undefined {
  if (yesesNeeded(terms) === 1) return undefined;
  return answers.find(({ args }, index) => {
    const one = answers.slice(index, index + 1);
    return args !== undefined && yesesTo(one, { ...asked, carried: [], args }, terms, requestedBy).length > 0;
  });
}

/** Yeses to a question with these arguments in place of those that were shown. */
export function yesesToEdited(answers: Answers, ballot: Ballot, terms: ApproverTerms, requestedBy: Principal): Answers {
  return yesesTo(answers, ballot, terms, requestedBy);
}

/**
 * The answer that decides on a question: the first no, or the yes with which enough people have said yes to the same
 * thing. Told from what is stored alone, so that it is the same for everybody, whatever each knew who wrote.
 */
export function decidingAnswer(
  answers: Answers,
  asked: Omit<Ballot, 'args'>,
  terms: ApproverTerms,
  requestedBy: Principal,
): Answers[number] | undefined {
  const needed = yesesNeeded(terms);
  const mine = answers.filter(({ requestId }) => requestId === asked.requestId);
  const edit = editedVote(mine, asked, terms, requestedBy);
  return mine.find((answer, index) => {
    if (answer.action !== 'accept') return true;
    const soFar = mine.slice(0, index + 1);
    const ballot = { ...asked, args: answer.args };
    if (!yesesTo([answer], { ...ballot, carried: [] }, terms, requestedBy).length) return false;
    // What was edited is asked of the others: who has not seen it says nothing of it any more.
    const isBehind = edit !== undefined && index > mine.indexOf(edit);
    if (isBehind && canonicalJson({ args: answer.args ?? null }) !== canonicalJson({ args: edit.args })) return false;
    return votesFor(soFar, ballot, terms, requestedBy).size >= needed;
  });
}

/** Both rules hold, of different times: who answers has a role of each of their lists. */
export function bothRules(a: ApproverRule | undefined, b: ApproverRule | undefined): ApproverRule | undefined {
  if (!a || !b) return a ?? b;
  const lists = new Map([...rolesOf(a), ...rolesOf(b)].map((list) => [canonicalJson([...list].sort()), [...list]]));
  const [roles, ...also] = lists.values();
  const quorum = Math.max(a.quorum ?? 1, b.quorum ?? 1);
  return {
    ...a,
    ...b,
    ...(roles ? { roles } : {}),
    ...(a.notRequester || b.notRequester ? { notRequester: true } : {}),
    ...(quorum > 1 ? { quorum } : {}),
    ...(also.length > 0 ? { also } : {}),
  };
}
