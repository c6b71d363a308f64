import type { ConfirmationRequest, ReportedRequest } from '../../contracts/index.ts';
import { isPolicyQuestion, questionNumber } from '../../contracts/index.ts';
import type { Decision, Question } from '../../gate/index.ts';

/** What a handler asked in mid-run, with which arguments. */
export interface Confirmation {
  asked: ConfirmationRequest;
  args: Record<string, unknown>;
  redact?: string[] | undefined;
  /** How often the call had been started when the run that asked was begun. */
  attempts: number;
  /** Number of its question among those about the call: what was answered before is no answer to it. */
  first: number;
}

type Asked = Map<string, Confirmation>;

/** Sessions that are open nowhere in this process, whose handlers' questions are kept. */
const MAX_CLOSED = 1000;

/** What handlers have asked in all sessions of a host: the id of a call is unique in its session alone. */
export class Confirmations {
  readonly #open = new Map<string, Asked>();
  /** The session that was closed last is last. The log knows their calls, and asks about them as after a restart. */
  readonly #closed = new Map<string, Asked>();

  /** Questions that are kept. */
  get size(): number {
    let sum = 0;
    for (const sessions of [this.#open, this.#closed]) for (const { size } of sessions.values()) sum += size;
    return sum;
  }

  /** Sessions with a handle whose handlers' questions are kept. */
  get openSessions(): number {
    return this.#open.size;
  }

  has(session: string): boolean {
    return this.#of(session) !== undefined;
  }

  get(session: string, callId: string): Confirmation | undefined {
    return this.#of(session)?.get(callId);
  }

  set(session: string, callId: string, confirmation: Confirmation): void {
    const asked: Asked = this.#of(session) ?? new Map();
    this.#closed.delete(session);
    this.#open.set(session, asked.set(callId, confirmation));
  }

  delete(session: string, callId: string): void {
    const asked = this.#of(session);
    if (asked?.delete(callId) && asked.size === 0) this.forget(session);
  }

  /** All but these calls are closed. */
  retain(session: string, open: ReadonlySet<string | undefined>): void {
    for (const callId of this.#of(session)?.keys() ?? []) if (!open.has(callId)) this.delete(session, callId);
  }

  /** Its last handle was closed: what is open in it may be answered later, of the newest sessions. */
  close(session: string): void {
    const asked = this.#open.get(session);
    if (!asked) return;
    this.#open.delete(session);
    this.#closed.set(session, asked);
    const [oldest] = this.#closed.keys();
    if (this.#closed.size > MAX_CLOSED && oldest !== undefined) this.#closed.delete(oldest);
  }

  /** It was deleted. */
  forget(session: string): void {
    this.#open.delete(session);
    this.#closed.delete(session);
  }

  #of(session: string): Asked | undefined {
    // Asked at each call and each end; hardly any handler asks.
    if (this.#open.size + this.#closed.size === 0) return undefined;
    return this.#open.get(session) ?? this.#closed.get(session);
  }
}

/** A handler has ended with a question of its own. */
export function confirmationOf(
  { args, record: { redact } }: Decision,
  asked: ConfirmationRequest,
  { answers = [], questions = [], attempts = 0 }: ReportedRequest,
): Confirmation {
  // Those that were put and not answered count, too: an answer to one of them is none to this.
  const before = [...answers, ...questions].map(({ requestId }) => requestId).filter(isPolicyQuestion);
  const first = Math.max(0, ...before.map((requestId) => questionNumber(requestId) + 1));
  return { asked, args, redact, attempts, first };
}

/**
 * The call was started elsewhere since its handler has asked, which knows nothing of that question: what that run came to
 * is not known, and an answer to the question is none to a question about that.
 */
export function isOvertaken(confirmation: Confirmation, { attempts = 0 }: ReportedRequest): boolean {
  return attempts > confirmation.attempts + 1;
}

/** A handler's question as the gate's. */
export function confirmationQuestion({ asked, args, redact }: Confirmation): Question {
  const { hint, payload, expiresIn } = asked;
  return {
    args,
    ...(hint === undefined ? {} : { hint }),
    ...(payload === undefined ? {} : { payload }),
    ...(expiresIn === undefined ? {} : { expiresIn }),
    ...(redact ? { redact } : {}),
  };
}
