import type { ApprovalQuestion, ReportedRequest } from '../../contracts/index.ts';
import { openRequest } from '../../session/index.ts';
import type { Step } from '../questions/index.ts';
import type { ControlledSession } from './controlled-session.ts';

/** A request that is open in a session, with what its host asks about it, if anything. */
export interface FoundRequest {
  request: ReportedRequest;
  question: ApprovalQuestion | undefined;
}

/** What is open under an id: the request's own, that of its call or that of the host's question about it. */
export async function findOpen(session: ControlledSession, requestId: string): Promise<FoundRequest | undefined> {
  const request = await openRequest(session.inner, requestId);
  if (!request) return undefined;
  // Whether a sub-agent has lost its session, which is asked about, is known when it has been looked for.
  if (request.started && requestId !== request.callId) await session.subagents?.of(request)?.session();
  const question = await questionOf(session, request);
  const isNamed = request.kind === 'tool' || [request.requestId, question?.requestId].includes(requestId);
  if (!isNamed) return undefined;
  // Of a question that was asked again, only the newest is open.
  if (question && requestId !== question.requestId && requestId !== request.callId)
    return { request, question: undefined };
  return { request, question };
}

/** An open request as it is shown: as what the host asks about it, or with those who may answer what the agent asks. */
export async function asShown(session: ControlledSession, request: ReportedRequest): Promise<ReportedRequest> {
  const step = await stepOf(session, request);
  if (step?.kind === 'ask') return step.question;
  return step?.kind === 'elicit' ? step.request : request;
}

/** What the host asks about an open request; undefined where it asks nothing, or the call is on its way already. */
export async function questionOf(
  session: ControlledSession,
  request: ReportedRequest,
): Promise<ApprovalQuestion | undefined> {
  const step = await stepOf(session, request);
  return step?.kind === 'ask' ? step.question : undefined;
}

async function stepOf(session: ControlledSession, request: ReportedRequest): Promise<Step | undefined> {
  if (session.isBusy(request.callId)) return undefined;
  return session.judge.step(request, session.frame.toolOf(request), undefined, true);
}
