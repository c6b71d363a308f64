import type { PendingRequest } from '../../contracts/index.ts';
import { openRequest } from '../../session/index.ts';
import type { ApprovalQuestion } from '../terms/index.ts';
import type { ControlledSession } from './controlled-session.ts';

/** A request that is open in a session, with what its host asks about it, if anything. */
export interface OpenRequest {
  request: PendingRequest;
  question: ApprovalQuestion | undefined;
}

/** What is open under an id: the request's own, that of its call or that of the host's question about it. */
export async function findOpen(session: ControlledSession, requestId: string): Promise<OpenRequest | undefined> {
  const request = await openRequest(session.inner, requestId);
  if (!request || (request.requestId !== requestId && request.kind !== 'tool')) return undefined;
  const question = await questionOf(session, request);
  // Of a question that was asked again, only the newest is open.
  if (question && requestId !== question.requestId && requestId !== request.callId)
    return { request, question: undefined };
  return { request, question };
}

/** What the host asks about an open request; undefined where it asks nothing, or the call is on its way already. */
export async function questionOf(
  session: ControlledSession,
  request: PendingRequest,
): Promise<ApprovalQuestion | undefined> {
  const tool = session.frame.toolOf(request);
  if (session.isBusy(request.callId)) return undefined;
  const step = await session.judge.step(request, tool, undefined, true);
  return step.kind === 'ask' ? step.question : undefined;
}
