/** Checks of what a session is given: inputs, answers, options. */

export { checkAnswer, inFull } from './answer.ts';
export { AnswerCounter, answerLimits } from './answer-counter.ts';
export type { ApproverTerms } from './approver.ts';
export {
  awaitsMore,
  hasSameRoles,
  hasVoted,
  mayAnswer,
  nameOfPrincipal,
  personOf,
  rolesOf,
  whyNotApprover,
} from './approver.ts';
export { checkHooks } from './hook-points.ts';
export { checkContent, checkSize, MAX_INPUT_CHARS, normaliseInput } from './input.ts';
export { permissionMode } from './permission-modes.ts';
export { anOutcome } from './policy-outcome.ts';
export { checkLimits, checkNames, checkPrincipal, unfitOfPrincipal } from './principal.ts';
export { checkAbort, checkEvents, checkExecution, checkRequestId, checkSteer, streamIdOf } from './session-calls.ts';
export { listedSession, sessionTitle } from './title.ts';
