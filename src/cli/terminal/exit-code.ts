import type { KnownEndReason } from '../../contracts/index.ts';

/** What the process exits with. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  denied: 3,
  inputRequired: 4,
  limit: 5,
  refusal: 6,
  truncated: 7,
  aborted: 130,
} as const;

const ofReason: Readonly<Record<KnownEndReason, number>> = {
  completed: EXIT.done,
  failed: EXIT.failed,
  aborted: EXIT.aborted,
  input_required: EXIT.inputRequired,
  max_turns: EXIT.limit,
  max_budget: EXIT.limit,
  max_time: EXIT.limit,
  refusal: EXIT.refusal,
};

/** The exit code of a stream that ended for `reason`; of one that is done, of what is wanting. */
export function exitCodeOf(reason: string, { denied, truncated }: { denied: number; truncated: boolean }): number {
  const code = Object.hasOwn(ofReason, reason) ? ofReason[reason as KnownEndReason] : EXIT.failed;
  if (code !== EXIT.done) return code;
  if (truncated) return EXIT.truncated;
  return denied > 0 ? EXIT.denied : code;
}
