/** What is to be done about a call that has no result, and what it is closed with. */
export type { HasRun } from './call-results.ts';
export {
  abandonedResult,
  authorsWord,
  isRepeatable,
  NOBODY_IN_TIME,
  NOT_AGAIN,
  refusalResult,
  rerunQuestion,
} from './call-results.ts';
export type { NextStep, OpenCallFacts, Refusal } from './next-step.ts';
export { nextStep } from './next-step.ts';
