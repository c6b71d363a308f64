/** Why a run could not go on. */
export interface Failure {
  /** Reason of the stream's end: `failed`, `max_turns`, `max_budget`, `max_time`, `refusal`. */
  reason: string;
  status: string;
  code: string;
  message: string;
  /** Limits and refusals are not fatal errors. */
  fatal: boolean;
  retryable: boolean;
  details?: Record<string, unknown>;
}

/** What every agent's run comes to. */
export type Outcome =
  | { kind: 'done'; escalate?: boolean; transfer?: { to: string; callId: string } }
  /** Something is open that only somebody else can answer. */
  | { kind: 'suspended' }
  | { kind: 'failed'; failure: Failure };

export const DONE: Outcome = Object.freeze({ kind: 'done' });
export const SUSPENDED: Outcome = Object.freeze({ kind: 'suspended' });

/** Done, with nothing that concerns the parent: the next sibling may start. */
export function isPlainDone(outcome: Outcome): boolean {
  return outcome.kind === 'done' && !outcome.escalate && !outcome.transfer;
}
