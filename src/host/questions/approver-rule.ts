import type { ApproverRule, PendingRequest, Principal } from '../../contracts/index.ts';
import { CoxswainError, canonicalJson } from '../../contracts/index.ts';

type Answers = NonNullable<PendingRequest['answers']>;

/** Why somebody may not decide on a request; undefined if they may. */
export function whyNotApprover(
  rule: ApproverRule | undefined,
  requestedBy: Principal,
  by: Principal,
): string | undefined {
  if (!rule) return undefined;
  if (rule.notRequester && by.id === requestedBy.id) return 'whoever asked may not approve';
  for (const roles of rolesOf(rule)) {
    if (!by.roles?.some((role) => roles.includes(role))) return `it takes one of the roles ${roles.join(', ')}`;
  }
  return undefined;
}

/** Without a rule anybody may, with one nobody who is not named. */
export function mayDecide(rule: ApproverRule | undefined, requestedBy: Principal, by: Principal | undefined): boolean {
  return !rule || (by !== undefined && whyNotApprover(rule, requestedBy, by) === undefined);
}

/** @throws CoxswainError `PERMISSION_DENIED / E_NOT_APPROVER` */
export function assertApprover(
  requestId: string,
  rule: ApproverRule | undefined,
  requestedBy: Principal,
  by: Principal,
): void {
  const fault = whyNotApprover(rule, requestedBy, by);
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
  const rule = approval?.approvers ?? approvers ?? put?.approvers;
  const requestedBy = request.approval?.requestedBy ?? request.requestedBy ?? { id: userId };
  if (rule && namesPeople(rule)) return whyNotApprover(rule, requestedBy, by);
  if (by.id === userId || by.id === requestedBy.id) return undefined;
  const several =
    (rule?.quorum ?? 1) > 1 ? `, though it wants ${rule?.quorum} people: give it roles or notRequester` : '';
  return `the session is somebody else’s and policy names nobody${several}`;
}

/** What is open, and in whose session. */
export interface AskedFor {
  userId: string;
  request: AskedRequest;
}

/** `approvers`: of a question that is not asked any more. */
export type AskedRequest = Pick<PendingRequest, 'approval' | 'requestedBy' | 'questions'> & {
  requestId?: string;
  approvers?: ApproverRule;
};

/** How many it takes is no word on who they are. */
function namesPeople(rule: ApproverRule): boolean {
  return rule.notRequester === true || rolesOf(rule).length > 0;
}

/** What a yes is to. */
export interface Ballot {
  requestId: string;
  digest: string;
  /** Edited arguments. */
  args?: Record<string, unknown> | undefined;
}

/** Different people who have said yes to the same thing, and may. */
export function votesFor(
  answers: Answers,
  ballot: Ballot,
  rule: ApproverRule | undefined,
  requestedBy: Principal,
): Set<string> {
  return new Set(yesesTo(answers, ballot, rule, requestedBy).map(({ by }) => by?.id ?? ''));
}

function yesesTo(
  answers: Answers,
  ballot: Ballot,
  rule: ApproverRule | undefined,
  requestedBy: Principal,
): Answers[number][] {
  const wanted = canonicalJson({ args: ballot.args ?? null });
  return answers.filter(
    ({ requestId, action, by, digest, args }) =>
      requestId === ballot.requestId &&
      action === 'accept' &&
      digest === ballot.digest &&
      canonicalJson({ args: args ?? null }) === wanted &&
      mayDecide(rule, requestedBy, by),
  );
}

/**
 * The answer that decides on a question: the first no, or the yes with which enough people have said yes to the same
 * thing. Told from what is stored alone, so that it is the same for everybody, whatever each knew who wrote.
 */
export function decidingAnswer(
  answers: Answers,
  asked: { requestId: string; digest: string },
  rule: ApproverRule | undefined,
  requestedBy: Principal,
): Answers[number] | undefined {
  const needed = rule?.quorum ?? 1;
  const mine = answers.filter(({ requestId }) => requestId === asked.requestId);
  return mine.find((answer, index) => {
    if (answer.action !== 'accept') return true;
    const soFar = mine.slice(0, index + 1);
    const ballot = { ...asked, args: answer.args };
    if (!yesesTo([answer], ballot, rule, requestedBy).length) return false;
    return votesFor(soFar, ballot, rule, requestedBy).size >= needed;
  });
}

function rolesOf({ roles = [], also = [] }: ApproverRule): readonly (readonly string[])[] {
  return [roles, ...also].filter((list) => list.length > 0);
}

/** Both rules hold. */
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
