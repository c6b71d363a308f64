import type { ConfirmationRequest, PendingRequest } from '../contracts/index.ts';
import type { Decision, Question } from '../gate/index.ts';
import { isPolicyQuestion } from './question-id.ts';

/** What a handler asked in mid-run, with which arguments. */
export interface Confirmation {
  asked: ConfirmationRequest;
  args: Record<string, unknown>;
  redact?: string[] | undefined;
  /** Number of its question among those about the call: what was answered before is no answer to it. */
  first: number;
}

/** What handlers have asked in all sessions of a host: the id of a call is unique in its session alone. */
export class Confirmations {
  readonly #asked = new Map<string, Confirmation>();

  get(session: string, callId: string): Confirmation | undefined {
    return this.#asked.size === 0 ? undefined : this.#asked.get(keyOf(session, callId));
  }

  set(session: string, callId: string, confirmation: Confirmation): void {
    this.#asked.set(keyOf(session, callId), confirmation);
  }

  delete(session: string, callId: string): void {
    if (this.#asked.size > 0) this.#asked.delete(keyOf(session, callId));
  }
}

function keyOf(session: string, callId: string): string {
  return JSON.stringify([session, callId]);
}

/** A handler has ended with a question of its own. */
export function confirmationOf(
  { args, record: { redact } }: Decision,
  asked: ConfirmationRequest,
  { answers }: PendingRequest,
): Confirmation {
  const first = (answers ?? []).filter(({ requestId, quorum }) => !quorum && isPolicyQuestion(requestId)).length;
  return { asked, args, redact, first };
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
