/** What the process exits with. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  denied: 3,
  inputRequired: 4,
  limit: 5,
  refusal: 6,
  aborted: 130,
} as const;

const ofReason: Record<string, number> = {
  completed: EXIT.done,
  failed: EXIT.failed,
  aborted: EXIT.aborted,
  input_required: EXIT.inputRequired,
  max_turns: EXIT.limit,
  max_budget: EXIT.limit,
  max_time: EXIT.limit,
  refusal: EXIT.refusal,
};

/** The exit code of a stream that ended for `reason`, after so many calls were denied. */
export function exitCodeOf(reason: string, denied: number): number {
  const code = ofReason[reason] ?? EXIT.failed;
  return code === EXIT.done && denied > 0 ? EXIT.denied : code;
}
