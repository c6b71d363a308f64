import type { ApproverRule, PendingRequest, Principal } from '../contracts/index.ts';
import { CoxswainError } from '../contracts/index.ts';

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

/** Different people who have said yes to a question that needs several, and may. */
export function votesFor(
  answers: Answers,
  requestId: string,
  rule: ApproverRule | undefined,
  requestedBy: Principal,
): Set<string> {
  const people = new Set<string>();
  for (const { requestId: id, action, by } of answers) {
    if (id === requestId && action === 'accept' && by && whyNot(rule, requestedBy, by) === undefined) people.add(by.id);
  }
  return people;
}
