import type { AgentEvent, Principal, SessionPlace } from '../../contracts/index.ts';
import { callIdOf } from '../../contracts/index.ts';
import { whyNotOpen } from '../../gate/index.ts';
import { auditOf } from '../../session/index.ts';
import type { Approvals } from './approvals.ts';
import { lookInto } from './open-places.ts';
import type { ApprovalHost, OpenApproval } from './open-sessions.ts';

/** A question that somebody asks about who may know of it: where it is, and what is open of it. */
interface Asked {
  readonly requestId: string;
  readonly by: Principal;
  readonly place: SessionPlace;
  readonly open: OpenApproval | undefined;
}

/** What came of a question; undefined where there is none. */
export async function outcomeOf(
  host: Pick<ApprovalHost, 'borrow'>,
  { requestId, by, place, open }: Asked,
): ReturnType<Approvals['outcome']> {
  const found = await lookInto(host, place, async (session) => {
    const [call] = await auditOf(ofCall(session.history(), callIdOf(requestId)), { viewer: by });
    const name = call?.tool ?? open?.request.name;
    return { call, tool: name === undefined ? undefined : session.frame.toolOf({ name })?.descriptor };
  });
  const call = found?.call;
  if (!open && !call) return undefined;
  const whyNot = open && whyNotOpen(open, by);
  return {
    isOpen: open !== undefined,
    ...(open ? { request: open.request } : {}),
    ...(whyNot === undefined ? {} : { whyNot }),
    ...(call ? { call } : {}),
    ...(found?.tool ? { tool: found.tool } : {}),
  };
}

/** What a log says of one call: nothing else of it is held. */
export async function* ofCall(events: AsyncIterable<AgentEvent>, callId: string): AsyncGenerator<AgentEvent> {
  for await (const event of events) if (callOf(event) === callId) yield event;
}

function callOf(event: AgentEvent): string | undefined {
  if (event.type === 'custom') return (event.data as { callId?: string } | undefined)?.callId;
  return 'requestId' in event && typeof event.requestId === 'string' ? callIdOf(event.requestId) : undefined;
}
