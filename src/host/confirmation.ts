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
