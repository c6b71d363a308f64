import type { PendingRequest, RequestAnswer, RunQuestion, RunReply, Settlement } from '../../contracts/index.ts';
import { CoxswainError, isAskedByRun, questionId, questionNumber } from '../../contracts/index.ts';
import { ensureValidator, fitsSchema, untilAborted } from '../../gate/index.ts';
import { isoTime, keepsQuestions, putQuestions } from '../../session/index.ts';
import type { HostedSession } from '../hosted/hosted-session.ts';
import type { RunScope } from '../run/run-scope.ts';

interface Asked {
  readonly request: PendingRequest;
  readonly reply: (reply: RunReply) => void;
}

/** What handlers ask while they run, in all sessions of a host: in memory, as the runs are that wait for it. */
export class RunTimeQuestions {
  readonly #open = new Map<string, Map<string, Asked>>();
  /** Number of the next question of each call that has asked: an answer that comes late is to no later question. */
  readonly #next = new Map<string, number>();

  of(session: string): PendingRequest[] {
    return [...(this.#open.get(session)?.values() ?? [])].map(({ request }) => request);
  }

  get(session: string, requestId: string): Asked | undefined {
    return this.#open.get(session)?.get(requestId);
  }

  put(session: string, call: PendingRequest, question: RunQuestion, reply: Asked['reply']): PendingRequest {
    const callId = call.callId ?? call.requestId;
    const answered = (call.answers ?? []).map(({ requestId }) => requestId).filter(isAskedByRun);
    const key = keyOf(session, callId);
    const number = Math.max(this.#next.get(key) ?? 0, ...answered.map((requestId) => questionNumber(requestId) + 1));
    this.#next.set(key, number + 1);
    const requestId = questionId(callId, 'asked', number);
    const { decision: _, answers: __, questions: ___, message: ____, ...about } = call;
    const { message, requestedSchema, context } = question;
    const request: PendingRequest = {
      ...about,
      requestId,
      callId,
      kind: 'elicitation',
      elicitation: requestedSchema ? 'clarification' : 'user_approval',
      started: true,
      running: true,
      message,
      requestedAt: isoTime(),
      ...(requestedSchema ? { requestedSchema } : {}),
      ...(context ? { context } : {}),
    };
    const asked = this.#open.get(session) ?? new Map<string, Asked>();
    this.#open.set(session, asked.set(requestId, { request, reply }));
    return request;
  }

  take(session: string, requestId: string): void {
    const asked = this.#open.get(session);
    if (asked?.delete(requestId) && asked.size === 0) this.#open.delete(session);
  }

  /** The call has come to something. */
  over(session: string, callId: string): void {
    if (this.#next.size > 0) this.#next.delete(keyOf(session, callId));
  }
}

const keyOf = (session: string, callId: string): string => JSON.stringify([session, callId]);

/** Asks for the handler of a call that runs here, and waits for the answer. */
export async function askInRun(
  scope: RunScope,
  call: PendingRequest,
  question: RunQuestion,
  signal: AbortSignal,
): Promise<RunReply> {
  const { frame, inner } = scope.session;
  if (signal.aborted || !frame.grounds(call).interactive) return { action: 'cancel' };
  const { promise, resolve } = Promise.withResolvers<RunReply>();
  const request = frame.runTimeQuestions.put(frame.name, call, question, resolve);
  const { requestId, message } = request;
  try {
    if (keepsQuestions(inner)) await inner[putQuestions]([{ requestId, ...(message ? { reason: message } : {}) }]);
    scope.questions.askForRun(request);
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
  session: HostedSession,
  requestId: string,
  answer: RequestAnswer,
): Promise<Settlement | undefined> {
  const { frame } = session;
  const asked = frame.runTimeQuestions.get(frame.name, requestId);
  if (!asked) return undefined;
  const reply = await replyOf(asked.request, answer);
  const by = answer.by ?? frame.principal;
  const settlement = await session.inner.respond(requestId, { kind: 'elicitation', ...reply, by });
  if (settlement.status === 'settled') asked.reply(reply);
  return settlement;
}

async function replyOf({ requestId, requestedSchema }: PendingRequest, answer: RequestAnswer): Promise<RunReply> {
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
