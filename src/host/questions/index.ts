/** What to do about an open call: the judge, questions to people, answers. */
export { answerOf, fromElicitation, inputOf } from './answer-forms.ts';
export type { AskedRequest } from './approver-rule.ts';
export { assertApprover, decidingAnswer, notApprover, whyNotApprover, whyNotOpen } from './approver-rule.ts';
export { Confirmations } from './confirmation.ts';
export type { JudgeOptions } from './judge.ts';
export { Judge } from './judge.ts';
export { putAs, putByPolicy, toPut } from './obligations.ts';
export { untilFirstChange } from './question-time.ts';
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
export { WaitingQuestions } from './waiting-questions.ts';
