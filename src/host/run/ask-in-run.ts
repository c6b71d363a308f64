import type { ReportedRequest, RequestAnswer, RunQuestion, RunReply, Settlement } from '../../contracts/index.ts';
import { CoxswainError } from '../../contracts/index.ts';
import { approversOf, assertApprover, ensureValidator, fitsSchema, putAs, untilAborted } from '../../gate/index.ts';
import { keepsQuestions, putQuestions, whyTooLong } from '../../session/index.ts';
import type { Hosted } from '../frame/index.ts';
import type { RunBase } from './run-base.ts';
import type { RunQuestions } from './run-questions.ts';

/** What of a run asks for a handler. */
export interface AskingRun extends RunBase {
  readonly questions: Pick<RunQuestions, 'askForRun'>;
}

/**
 * Asks for the handler of a call that runs here, and waits for the answer. Whom policy names for the call may answer, by
 * what it says now and has said before; of a quorum each of them speaks for all, since the call runs by their yeses.
 */
export async function askInRun(
  scope: AskingRun,
  call: ReportedRequest,
  question: RunQuestion,
  signal: AbortSignal,
): Promise<RunReply> {
  const { frame, inner } = scope.session;
  if (signal.aborted || !frame.grounds(call).interactive) return { action: 'cancel' };
  const tooLong = whyTooLong(question);
  if (tooLong !== undefined) {
    frame.warn(`${call.name ?? call.callId}: ${tooLong}`);
    return { action: 'cancel' };
  }
  const obliged = await frame.judge.obliges(call, frame.toolOf(call), signal);
  if (signal.aborted || obliged === 'denied') return { action: 'cancel' };
  const { promise, resolve } = Promise.withResolvers<RunReply>();
  const request = frame.runTimeQuestions.put(frame.name, call, question, obliged, resolve);
  const { requestId, message } = request;
  try {
    if (keepsQuestions(inner)) {
      const reason = message ? { reason: message } : {};
      await inner[putQuestions]([{ requestId, ...reason, ...approversOf(obliged) }]);
    }
    if (!signal.aborted) scope.questions.askForRun(request);
    return await untilAborted(promise, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
    return { action: 'cancel' };
  } finally {
    frame.runTimeQuestions.take(frame.name, requestId);
  }
}

/** An answer to what a run waits for: in the log first. Undefined: no run waits for an answer to this. */
export async function answerRun(
  session: Hosted,
  requestId: string,
  answer: RequestAnswer,
): Promise<Settlement | undefined> {
  const { frame } = session;
  const asked = frame.runTimeQuestions.get(frame.name, requestId);
  if (!asked) return undefined;
  const { request } = asked;
  const by = answer.by ?? frame.principal;
  const reply = await replyOf(request, answer);
  // To withdraw the question is no answer to it.
  if (reply.action !== 'cancel')
    assertApprover(requestId, putAs(request, requestId), frame.grounds(request).principal, by);
  const settlement = await session.inner.respond(requestId, { kind: 'elicitation', ...reply, by });
  if (settlement.status === 'settled') asked.reply(reply);
  return settlement;
}

async function replyOf({ requestId, requestedSchema }: ReportedRequest, answer: RequestAnswer): Promise<RunReply> {
  const wrong = (why: string) => new CoxswainError('FAILED_PRECONDITION', 'E_WRONG_ANSWER', `${requestId}: ${why}`);
  if (answer.kind === 'result') throw wrong('it is a question; answer with accept, decline or cancel');
  if (answer.kind === 'deny') return { action: 'decline' };
  const { action, content } = answer.kind === 'approve' ? { action: 'accept' as const } : answer;
  if (action !== 'accept' || !requestedSchema) return { action };
  await ensureValidator();
  const given = structuredClone(content ?? {});
  if (!fitsSchema(requestedSchema, given)) throw wrong('what was given does not fit the form');
  return { action, content: given };
}
