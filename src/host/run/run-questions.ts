import type { ApprovalQuestion, GivenAnswer, ReportedRequest, RequestAnswer } from '../../contracts/index.ts';
import { isCoxswainError, openRequestOf } from '../../contracts/index.ts';
import { MAX_TIMER_MS, untilFirstChange } from '../../gate/index.ts';
import { inFull, LazyMap, LazySet } from '../../session/index.ts';
import { closedByOthers, WaitingQuestions } from '../questions/index.ts';
import type { RunBase } from './run-base.ts';
import { eventBase } from './run-base.ts';

/** The questions of one run: each is shown once, and handed to whoever answers questions here. */
export class RunQuestions {
  readonly waiting = new WaitingQuestions();
  readonly #scope: RunBase;
  readonly #shown = new LazySet<string>();
  /** Questions that handlers were given in this stream; true while a handler thinks about one. */
  readonly #asked = new LazyMap<string, boolean>();
  readonly #underWay = new LazySet<string>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(scope: RunBase) {
    this.#scope = scope;
  }

  ask(question: ApprovalQuestion): void {
    this.show(question);
    if (!this.#asked.has(question.requestId)) this.#handle(question, this.#scope.session.frame.options.onApproval);
  }

  elicit(request: ReportedRequest): void {
    if (this.#asked.has(request.requestId)) return;
    const question = openRequestOf(request);
    if (question.kind === 'tool' || question.approval) return;
    this.#handle(question, this.#scope.session.frame.options.onElicitation);
  }

  /** A handler's question, which is in no log as an event: shown like one that is. */
  askForRun(request: ReportedRequest): void {
    const { requestId, elicitation, message = '', callId, requestedSchema, context } = request;
    this.#scope.session.frame.announce(request);
    if (this.#scope.accepted && !this.#scope.hasFailed) {
      this.#scope.push({
        ...eventBase(this.#scope, request),
        type: 'elicitation_request',
        requestId,
        kind: elicitation ?? 'clarification',
        message,
        ...(callId === undefined ? {} : { callId }),
        ...(requestedSchema ? { requestedSchema } : {}),
        ...(context ? { context } : {}),
      });
    }
    this.elicit(request);
  }

  /**
   * A question is being answered: whoever reads the stream has seen it before, however fast that comes, or never.
   * Returns what to do when the answer is not taken.
   */
  answering(question: ApprovalQuestion): () => void {
    const { requestId } = question;
    this.show(question);
    if (this.#shown.has(requestId)) return () => {};
    this.#shown.add(requestId);
    return () => this.#shown.delete(requestId);
  }

  /** The same for an answer that is on its way into the log: until then nobody is told that the run waits for it. */
  underWay(question: ApprovalQuestion): (isTaken: boolean) => void {
    const { requestId } = question;
    const notTaken = this.answering(question);
    this.#underWay.add(requestId);
    return (isTaken) => {
      if (!isTaken) notTaken();
      this.#underWay.delete(requestId);
      this.#scope.wake();
    };
  }

  show(question: ApprovalQuestion): void {
    if (!this.#scope.accepted || this.#shown.has(question.requestId)) return;
    this.#shown.add(question.requestId);
    const { approval, elicitation, message, expiresAt, context, callId, args } = question;
    this.#scope.session.frame.announce(question);
    if (this.#scope.hasFailed) return;
    this.#scope.push({
      ...eventBase(this.#scope, question),
      type: 'elicitation_request',
      requestId: question.requestId,
      kind: elicitation ?? 'tool_confirmation',
      message: message ?? approval.title,
      title: approval.title,
      approval,
      ...(args ? { args } : {}),
      ...(callId === undefined ? {} : { callId }),
      ...(context ? { context } : {}),
      ...(expiresAt === undefined ? {} : { expiresAt }),
    });
  }

  /** Somebody thinks about one of them, or has answered it just now. */
  isAsking(questions: readonly ReportedRequest[]): boolean {
    return questions.some(({ requestId }) => this.#asked.get(requestId) === true || this.#underWay.has(requestId));
  }

  /** The first of these that has to be judged again wakes the run. */
  watchTime(questions: readonly ReportedRequest[]): void {
    clearTimeout(this.#timer);
    const left = untilFirstChange(questions);
    if (left === undefined) return;
    this.#timer = setTimeout(() => this.#scope.wake(), Math.min(left, MAX_TIMER_MS));
    this.#timer.unref?.();
  }

  /** The run is over. */
  end(): void {
    clearTimeout(this.#timer);
  }

  #handle<R extends ReportedRequest>(
    request: R,
    handler: ((request: R, context: { signal: AbortSignal }) => unknown) | undefined,
  ): void {
    this.#asked.set(request.requestId, handler !== undefined);
    if (!handler) return;
    const { signal, session } = this.#scope;
    const answering = async () => {
      try {
        const answer = (await handler(request, { signal })) as GivenAnswer | undefined;
        if (answer && !signal.aborted)
          await session.respond(request.requestId, toWhatWasShown(request, inFull(answer)));
      } catch (error) {
        if (isCoxswainError(error) && closedByOthers.has(error.code)) return;
        session.frame.warn(`the answer to ${request.requestId} was not taken; it stays open`, error);
      } finally {
        this.#asked.set(request.requestId, false);
        this.#scope.wake();
      }
    };
    void answering();
  }
}

/** A handler's yes is to what the handler was shown. */
function toWhatWasShown({ approval }: ReportedRequest, answer: RequestAnswer): RequestAnswer {
  if (answer.kind !== 'approve' || !approval) return answer;
  return { previewDigest: approval.previewDigest, ...answer };
}
