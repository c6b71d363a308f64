import type { ApprovalQuestion, ReportedRequest, RequestAnswer, Settlement } from '../../contracts/index.ts';
import { assertApprover, hasAnswer, isVote, putAs, yesesNeeded } from '../../gate/index.ts';
import { answerRun } from '../run/index.ts';
import { runsNow } from './answer-checks.ts';
import type { ControlledSession } from './controlled-session.ts';
import { afterAnswer, decidedByVotes } from './decided.ts';
import { findOpen, questionOf } from './open-request.ts';

/** Answers what is open under an id: a question of the host, a request of the agent, or one of a sub-agent's. */
export async function answerHostedRequest(
  session: ControlledSession,
  requestId: string,
  answer: RequestAnswer,
): Promise<Settlement> {
  const forRun = await answerRun(session, requestId, answer);
  if (forRun) return forRun;
  const open = await findOpen(session, requestId);
  const child = open ? undefined : await session.subagents?.find({ requestId });
  if (child) return child.respond(requestId, answer);
  if (open?.question) return answerQuestion(session, open.request, open.question, answer);
  const since = open && answer.kind === 'deny' ? await askedSince(session, requestId, open.request) : undefined;
  if (open && since) return answerQuestion(session, open.request, since, answer);
  const denied = open && (await deniedNow(session, requestId, open.request, answer));
  if (denied) return denied;
  const decided = open && decidedByVotes(open.request, requestId, session.frame.grounds(open.request).principal);
  return decided ?? answerDirect(session, requestId, open?.request, answer);
}

/** The question that is asked now in place of one whose votes did not decide, as one of them edited the call: a no is one to both. */
async function askedSince(
  session: ControlledSession,
  requestId: string,
  request: ReportedRequest,
): Promise<ApprovalQuestion | undefined> {
  const put = putAs(request, requestId);
  if (!put || yesesNeeded(put) < 2 || hasAnswer(request, requestId)) return undefined;
  return questionOf(session, request);
}

/** A question that was put, about a call that policy denies since: whatever the answer, the call does not run. */
async function deniedNow(
  session: ControlledSession,
  requestId: string,
  request: ReportedRequest,
  { by = session.frame.principal }: RequestAnswer,
): Promise<Settlement | undefined> {
  const put = putAs(request, requestId);
  // A run that is under way stores it by itself.
  if (!put || hasAnswer(request, requestId) || session.liveRun || request.callId === undefined) return undefined;
  const { frame } = session;
  const step = await session.judge.step(request, frame.toolOf(request), undefined, true);
  if (step.kind !== 'settle' || step.decision?.by !== 'policy') return undefined;
  assertApprover(requestId, put, frame.grounds(request).principal, by);
  const { result, decision } = step;
  const settlement = await session.inner.respond(request.callId, { kind: 'result', result, decision });
  return settlement.status === 'settled' ? { status: 'settled', by: 'policy', outcome: 'deny' } : settlement;
}

/**
 * Refuses what `answerRequest` would refuse, as far as this host can tell; stores nothing.
 * @throws CoxswainError as `respond`
 */
export async function checkRequestAnswer(
  session: ControlledSession,
  requestId: string,
  answer: RequestAnswer,
): Promise<void> {
  const open = await findOpen(session, requestId);
  const child = open ? undefined : await session.subagents?.find({ requestId });
  if (child) await child.checkResponse(requestId, answer);
  else if (open?.question) await session.answerChecks.decision(open.request, open.question, answer);
  else await session.answerChecks.direct(requestId, open?.request, answer);
}

/** A call that is being answered is not started meanwhile. */
async function answerDirect(
  session: ControlledSession,
  requestId: string,
  request: ReportedRequest | undefined,
  answer: RequestAnswer,
): Promise<Settlement> {
  const checked = await session.answerChecks.direct(requestId, request, answer);
  const run = session.liveRun;
  const callId = request?.kind === 'tool' && requestId === request.callId ? requestId : undefined;
  if (!run || callId === undefined) return session.inner.respond(requestId, checked);
  if (run.isBusy(callId)) throw runsNow(requestId);
  run.calls.withhold(callId);
  let isSettled = false;
  try {
    const settlement = await session.inner.respond(requestId, checked);
    isSettled = settlement.status === 'settled';
    return settlement;
  } finally {
    if (!isSettled) run.calls.giveBack(callId);
  }
}

async function answerQuestion(
  session: ControlledSession,
  request: ReportedRequest,
  question: ApprovalQuestion,
  answer: RequestAnswer,
): Promise<Settlement> {
  const checked = await session.answerChecks.decision(request, question, answer);
  const counts = isVote(checked);
  const run = session.liveRun;
  if (counts) run?.questions.show(question);
  const arrived = counts ? undefined : run?.questions.underWay(question);
  let isTaken = false;
  let settlement: Settlement;
  try {
    settlement = await session.inner.respond(question.requestId, checked);
    isTaken = true;
  } finally {
    arrived?.(isTaken);
  }
  const isForSeveral = yesesNeeded(question.approval) > 1;
  if (isForSeveral) settlement = await afterAnswer(session.inner, question, checked, settlement);
  if (settlement.status === 'settled') await remember(session, question, answer);
  return settlement;
}

async function remember(session: ControlledSession, question: ApprovalQuestion, answer: RequestAnswer): Promise<void> {
  if (answer.kind !== 'approve' || answer.remember === undefined) return;
  const option = question.approval.remember[answer.remember];
  if (option) await session.frame.remember(option);
}
