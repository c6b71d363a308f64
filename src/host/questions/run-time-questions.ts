import type { ReportedRequest, RunQuestion, RunReply } from '../../contracts/index.ts';
import { isAskedByRun, questionId, questionNumber } from '../../contracts/index.ts';
import type { ApproverTerms } from '../../gate/index.ts';
import { approversOf, isForNamed } from '../../gate/index.ts';
import { isoTime } from '../../session/index.ts';

interface Asked {
  readonly request: ReportedRequest;
  readonly reply: (reply: RunReply) => void;
}

/** Calls that have asked and are not settled, whose numbers are kept; of others the record tells. */
const MAX_NUMBERED = 10_000;

/** What handlers ask while they run, in all sessions of a host: in memory, as the runs are that wait for it. */
export class RunTimeQuestions {
  readonly #open = new Map<string, Map<string, Asked>>();
  /** Number of the next question of each call that has asked: an answer that comes late is to no later question. */
  readonly #next = new Map<string, number>();

  of(session: string): ReportedRequest[] {
    return [...(this.#open.get(session)?.values() ?? [])].map(({ request }) => request);
  }

  get(session: string, requestId: string): Asked | undefined {
    return this.#open.get(session)?.get(requestId);
  }

  put(
    session: string,
    call: ReportedRequest,
    question: RunQuestion,
    terms: ApproverTerms,
    reply: Asked['reply'],
  ): ReportedRequest {
    const callId = call.callId ?? call.requestId;
    // Those that were put and not answered count, too: whoever looks at one of them answers that one.
    const before = [...(call.answers ?? []), ...(call.questions ?? [])].map(({ requestId }) => requestId);
    const numbers = before.filter(isAskedByRun).map((requestId) => questionNumber(requestId) + 1);
    const key = keyOf(session, callId);
    const number = Math.max(this.#next.get(key) ?? 0, ...numbers);
    this.#next.delete(key);
    this.#next.set(key, number + 1);
    const [oldest] = this.#next.keys();
    if (this.#next.size > MAX_NUMBERED && oldest !== undefined) this.#next.delete(oldest);
    const requestId = questionId(callId, 'asked', number);
    const { decision: _, answers: __, questions: ___, message: ____, ...about } = call;
    const { message, requestedSchema, context } = question;
    const request: ReportedRequest = {
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
      ...(isForNamed(terms) ? { questions: [{ requestId, ...approversOf(terms) }] } : {}),
    };
    const asked = this.#open.get(session) ?? new Map<string, Asked>();
    this.#open.set(session, asked.set(requestId, { request, reply }));
    return request;
  }

  take(session: string, requestId: string): void {
    const asked = this.#open.get(session);
    if (asked?.delete(requestId) && asked.size === 0) this.#open.delete(session);
  }

  /** The call is settled: there is no later question of it. */
  over(session: string, callId: string): void {
    if (this.#next.size > 0) this.#next.delete(keyOf(session, callId));
  }
}

const keyOf = (session: string, callId: string): string => JSON.stringify([session, callId]);
