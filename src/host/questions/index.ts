/** What to do about an open call: the judge, questions to people, answers. */
export { answerOf, fromElicitation, inputOf } from './answer-forms.ts';
export { Confirmations } from './confirmation.ts';
export type { JudgeOptions } from './judge.ts';
export { Judge } from './judge.ts';
export { hasTails } from './open-call-facts.ts';
export { carriedVotes } from './question-outcome.ts';
export type { RunStep } from './run-inputs.ts';
export {
  asAbort,
  callsOf,
  closedByOthers,
  hasClosed,
  hasOutlived,
  isApprovalQuestion,
  isOfCall,
  isOver,
  onAbort,
  resultInput,
} from './run-inputs.ts';
export { RunTimeQuestions } from './run-time-questions.ts';
export type { Step } from './step.ts';
export { notAgain, notOffered } from './step.ts';
export { WaitingQuestions } from './waiting-questions.ts';
