import type {
  AgentEvent,
  PolicyDecision,
  PolicyDecisionRecord,
  PolicyRequest,
  Principal,
  ReportedRequest,
  SessionPlace,
} from '../../contracts/index.ts';
import { callIdOf } from '../../contracts/index.ts';
import { notApprover, requestOf, whyNotOpen } from '../../gate/index.ts';
import type { CallExplanation } from '../../session/index.ts';
import { auditOf, redactPointers } from '../../session/index.ts';
import { HostedSession } from '../hosted/index.ts';
import { explanationOf, withoutValues } from '../policy/index.ts';
import type { KnownQuestion } from './known-questions.ts';
import { lookInto } from './open-places.ts';
import type { ApprovalHost, OpenApproval } from './open-sessions.ts';
import { ofCall } from './outcome.ts';

interface Asking {
  readonly requestId: string;
  readonly by: Principal;
  readonly place: SessionPlace;
  /** In place of the call's. */
  readonly args: Record<string, unknown> | undefined;
  readonly open: OpenApproval | undefined;
  /** What this host has shown of it. */
  readonly known: KnownQuestion | undefined;
  /** They see all rules, and may try arguments, whatever the call is to them. */
  readonly everything: boolean;
}

/** What policy is asked about a call, and what it answers where the call is open. */
interface Word {
  request: PolicyRequest;
  decision?: PolicyDecision;
  unfit?: string;
  isForOthers?: boolean;
  incomplete?: boolean;
}

/**
 * What policy says of a call, for people who may know of it. Its rules, and its word on other arguments, are for those who
 * may answer the question about it, as they are asked to judge; the others get the decision alone. Undefined: there is none.
 * @throws CoxswainError `PERMISSION_DENIED / E_NOT_APPROVER` for other arguments, from people who may not answer
 */
export async function explainCall(
  host: Pick<ApprovalHost, 'borrow'>,
  asking: Asking,
): Promise<CallExplanation | undefined> {
  const { requestId, by, place, args, open, known, everything } = asking;
  const callId = callIdOf(requestId);
  const question = open ?? known;
  const whyNot = question ? whyNotOpen(question, by) : 'nobody is asked';
  const mayJudge = everything || whyNot === undefined;
  return lookInto(host, place, async (session) => {
    const pending = await pendingOf(session, requestId);
    const seesAll = open !== undefined && whyNot === undefined;
    // Of what is open its question says all that they may know; a history may be long.
    const events = seesAll && pending ? [] : await eventsOf(session, callId);
    const [entry] = await auditOf(events, { viewer: by });
    if (!pending && !entry) return undefined;
    if (args && !mayJudge) throw notApprover(requestId, by, `other arguments are tried by who may answer (${whyNot})`);
    const word = pending
      ? await wordOn(pending, args ?? open?.request.args, by)
      : loggedWord(events, place.sessionId, args);
    if (!word) return undefined;
    // What is remembered is the root session's: it holds for its sub-agents, too.
    const { rules } = session.frame;
    const said = await explanationOf(rules, word.request);
    const decision = word.decision ?? said.decision;
    const hidden = seesAll ? [] : [...(entry?.redacted ?? []), ...(decision.redact ?? [])];
    const shownArgs = redactPointers(word.request.args ?? {}, hidden).value;
    const shown =
      hidden.length > 0 ? withoutValues(said, await explanationOf(rules, { ...word.request, args: shownArgs })) : said;
    return {
      decision,
      ...(mayJudge ? { rules: shown.rules } : {}),
      byDefault: said.byDefault,
      ...(said.mode ? { mode: said.mode } : {}),
      args: shownArgs,
      ...(word.request.principal ? { principal: word.request.principal } : {}),
      agentPath: word.request.context?.agentPath ?? [],
      ...(word.unfit === undefined ? {} : { unfit: word.unfit }),
      ...(word.isForOthers ? { isForOthers: true } : {}),
      ...(word.incomplete ? { incomplete: true } : {}),
    };
  });
}

async function eventsOf(session: HostedSession, callId: string): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  for await (const event of ofCall(session.history(), callId)) events.push(event);
  return events;
}

interface Pending {
  request: ReportedRequest;
  /** That of the sub-agent which asks, where one does. */
  session: HostedSession;
}

async function pendingOf(session: HostedSession, requestId: string): Promise<Pending | undefined> {
  const callId = callIdOf(requestId);
  const request = (await session.inner.pending()).find((one) => one.callId === callId);
  if (request) return { request, session };
  const child = await session.subagents?.find({ requestId });
  return child instanceof HostedSession ? pendingOf(child, requestId) : undefined;
}

async function wordOn(
  { request, session }: Pending,
  args: Record<string, unknown> | undefined,
  by: Principal,
): Promise<Word> {
  return session.judge.word(request, session.frame.toolOf(request), args ?? request.args ?? {}, by);
}

/** Of a call that is over: with what policy was asked then. */
function loggedWord(
  events: readonly AgentEvent[],
  sessionId: string,
  given: Record<string, unknown> | undefined,
): Word | undefined {
  const call = events.find((event) => event.type === 'tool_request');
  if (call?.type !== 'tool_request') return undefined;
  const decisions = events.flatMap((event) =>
    event.type === 'custom' && event.kind === 'policy_decision' ? [event.data as PolicyDecisionRecord] : [],
  );
  // The newest counts: a call may be decided on again.
  const record = decisions.findLast((one) => one.asked !== undefined);
  const { agentId, annotations } = call;
  const asked = record?.asked ?? {
    agentPath: agentId === undefined ? [] : [agentId],
    interactive: true,
    ...(annotations ? { annotations } : {}),
  };
  const args = given ?? asked.args ?? record?.args ?? call.args;
  const request = requestOf(call.name, args, asked, sessionId);
  return { request, ...(record ? {} : { incomplete: true }) };
}
