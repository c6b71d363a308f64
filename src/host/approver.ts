import type { ApproverRule, PendingRequest, Principal } from '../contracts/index.ts';
import { CoxswainError, canonicalJson } from '../contracts/index.ts';

type Answers = NonNullable<PendingRequest['answers']>;

/** Why somebody may not decide on a request; undefined if they may. */
export function whyNot(rule: ApproverRule | undefined, requestedBy: Principal, by: Principal): string | undefined {
  if (!rule) return undefined;
  if (rule.notRequester && by.id === requestedBy.id) return 'whoever asked may not approve';
  const { roles } = rule;
  if (roles && roles.length > 0 && !by.roles?.some((role) => roles.includes(role))) {
    return `it takes one of the roles ${roles.join(', ')}`;
  }
  return undefined;
}

/** Without a rule anybody may, with one nobody who is not named. */
export function mayDecide(rule: ApproverRule | undefined, requestedBy: Principal, by: Principal | undefined): boolean {
  return !rule || (by !== undefined && whyNot(rule, requestedBy, by) === undefined);
}

/** @throws CoxswainError `PERMISSION_DENIED / E_NOT_APPROVER` */
export function assertApprover(
  requestId: string,
  rule: ApproverRule | undefined,
  requestedBy: Principal,
  by: Principal,
): void {
  const fault = whyNot(rule, requestedBy, by);
  if (fault === undefined) return;
  throw new CoxswainError('PERMISSION_DENIED', 'E_NOT_APPROVER', `${by.id} may not decide on ${requestId}: ${fault}`, {
    details: { requestId, by: by.id },
  });
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
  const people = new Set<string>();
  const wanted = canonicalJson({ args: ballot.args ?? null });
  for (const { requestId, action, by, digest, args } of answers) {
    if (requestId !== ballot.requestId || action !== 'accept' || digest !== ballot.digest) continue;
    if (canonicalJson({ args: args ?? null }) !== wanted) continue;
    if (by && whyNot(rule, requestedBy, by) === undefined) people.add(by.id);
  }
  return people;
}
