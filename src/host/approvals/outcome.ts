import type { Principal, SessionPlace } from '../../contracts/index.ts';
import { callIdOf } from '../../contracts/index.ts';
import { whyNotOpen } from '../../gate/index.ts';
import { auditOf, nameOfPrincipal } from '../../session/index.ts';
import type { Approvals } from './approvals.ts';
import type { KnownQuestion } from './known-questions.ts';
import { lookInto } from './open-places.ts';
import type { ApprovalHost, OpenApproval } from './open-sessions.ts';

/** A question that somebody asks about: who asks, where it is, what is open of it, and what this host has shown of it. */
interface Asked {
  readonly requestId: string;
  readonly by: Principal;
  readonly place: SessionPlace;
  readonly open: OpenApproval | undefined;
  readonly known: KnownQuestion | undefined;
}

/** What came of a question, for who may know of it; undefined for others, and where there is none. */
export async function outcomeOf(
  host: Pick<ApprovalHost, 'borrow'>,
  { requestId, by, place, open, known }: Asked,
): ReturnType<Approvals['outcome']> {
  const found = await lookInto(host, place, async (session) => {
    const audits = await auditOf(session.history(), { viewer: by });
    const call = audits.find(({ callId }) => callId === callIdOf(requestId));
    const name = call?.tool ?? open?.request.name;
    return { call, tool: name === undefined ? undefined : session.frame.toolOf({ name })?.descriptor };
  });
  const call = found?.call;
  const who = nameOfPrincipal(by);
  const requester = open?.request.approval?.requestedBy ?? open?.request.requestedBy;
  const isTheirs =
    place.userId === who ||
    (requester !== undefined && nameOfPrincipal(requester) === who) ||
    (known !== undefined && whyNotOpen(known, by) === undefined) ||
    call?.answers.some((answer) => answer.requestId === requestId && answer.by === who) === true;
  if (!isTheirs || (!open && !call)) return undefined;
  const whyNot = open && whyNotOpen(open, by);
  return {
    isOpen: open !== undefined,
    ...(open ? { request: open.request } : {}),
    ...(whyNot === undefined ? {} : { whyNot }),
    ...(call ? { call } : {}),
    ...(found?.tool ? { tool: found.tool } : {}),
  };
}
