import type { ApproverRule, Principal, ReportedRequest } from '../../contracts/index.ts';

// Whether somebody may answer a question, told from what is shown of it: for hosts, and for pages, which load no gate.

/** Terms of a question as far as they say who answers it: policy's word, an open question, what one was put with. */
export interface ApproverTerms {
  readonly approvers?: ApproverRule | undefined;
}

/** Why somebody may not decide on a question; undefined if they may. Without terms anybody may. */
export function whyNotApprover(
  terms: ApproverTerms | undefined,
  requestedBy: Principal,
  by: Principal,
): string | undefined {
  const rule = terms?.approvers;
  if (!rule) return undefined;
  if (rule.notRequester && isOne(by, requestedBy)) return 'the requester may not approve';
  for (const roles of rolesOf(rule)) {
    if (!by.roles?.some((role) => roles.includes(role))) return `it takes one of the roles ${roles.join(', ')}`;
  }
  return undefined;
}

/** The person who is meant: whoever acts, or whom they act for. */
export const personOf = ({ id, onBehalfOf = id }: Principal): string => onBehalfOf;

/**
 * Names one principal among all: somebody who acts for one person is another one than when they act for a second, or for
 * themselves. The id, or the id and the person's, `gateway~1anna`; a `~` in them is written as `~0`.
 */
export function nameOfPrincipal({ id, onBehalfOf }: Principal): string {
  return [id, onBehalfOf].flatMap((part) => part?.replaceAll('~', '~0') ?? []).join('~1');
}

/** Both have each role of the other. */
export function hasSameRoles({ roles: some = [] }: Principal, { roles: others = [] }: Principal): boolean {
  return some.every((role) => others.includes(role)) && others.every((role) => some.includes(role));
}

/** They are, or act for, the same person. */
function isOne(a: Principal, b: Principal): boolean {
  return [b.id, personOf(b)].some((id) => id === a.id || id === personOf(a));
}

/** A yes that does not decide by itself: more people must say it. */
export const awaitsMore = ({ quorum }: { readonly quorum?: unknown }): boolean => quorum !== undefined;

/** They have said yes to what is shown, and more must say it: asking them again adds nothing. */
export function hasVoted(
  { requestId, approval, answers = [] }: Pick<ReportedRequest, 'requestId' | 'approval' | 'answers'>,
  who: Principal,
): boolean {
  return answers.some(
    (answer) =>
      answer.requestId === requestId &&
      answer.action === 'accept' &&
      awaitsMore(answer) &&
      answer.by !== undefined &&
      personOf(answer.by) === personOf(who) &&
      answer.digest === approval?.previewDigest,
  );
}

/** Whether a question that is shown to somebody is theirs to answer: policy lets them, and they have not said yes to it. */
export function mayAnswer(
  question: Pick<ReportedRequest, 'requestId'> & Partial<Pick<ReportedRequest, 'approval' | 'answers'>>,
  who: Principal,
): boolean {
  const { approval } = question;
  if (!approval) return true;
  return whyNotApprover(approval, approval.requestedBy, who) === undefined && !hasVoted(question, who);
}

/** Lists of roles, of each of which an approver must have one. */
export function rolesOf({ roles = [], also = [] }: ApproverRule): readonly (readonly string[])[] {
  return [roles, ...also].filter((list) => list.length > 0);
}
