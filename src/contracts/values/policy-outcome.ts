/** What policy says of a call: it runs, it does not, or a person is asked. */
export const POLICY_OUTCOMES = ['allow', 'deny', 'ask'] as const;
export type PolicyOutcome = (typeof POLICY_OUTCOMES)[number];

/** What `ask` was called before: read wherever an outcome comes from outside, and given out nowhere. */
const FORMER_ASK = 'ask_user';

/** An outcome as it is written now. What is none is given back as it is. */
export function withPresentWord<T>(outcome: T): T | 'ask' {
  return outcome === FORMER_ASK ? 'ask' : outcome;
}

/** The one reader of outcomes from outside: of rules, files, other engines and policies in code. Undefined: it is none. */
export function policyOutcome(value: unknown): PolicyOutcome | undefined {
  const word = withPresentWord(value);
  return POLICY_OUTCOMES.find((outcome) => outcome === word);
}
