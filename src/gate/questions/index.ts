/** The terms of a question: who may answer it, how many must, until when, what time makes of it. */
export type { ApproverTerms } from '../../session/index.ts';
export { hasVoted, mayAnswer, personOf, whyNotApprover } from '../../session/index.ts';
export type { AskedFor, AskedRequest, Ballot } from './approvers.ts';
export {
  approversOf,
  assertApprover,
  bothRules,
  decidingAnswer,
  editedVote,
  hasAnswer,
  isForNamed,
  isVote,
  mayDecide,
  notApprover,
  votesFor,
  whyNotOpen,
  wordsOfApprovers,
  yesesNeeded,
  yesesToEdited,
} from './approvers.ts';
export type { Obligations } from './obligations.ts';
export {
  APPROVER_MEMBERS,
  bothObligations,
  faultOfObligations,
  isAbsentOr,
  isSeconds,
  MAX_EXPIRES_IN,
  OBLIGATIONS_OF_ASKS,
  obligationsIn,
  PRESENT_NAMES,
  sooner,
  withPresentNames,
} from './obligations.ts';
export type { HeldQuestion, Question, QuestionState } from './terms.ts';
export {
  changedSinceShown,
  changesAt,
  expiryFromNow,
  expiryOf,
  hasExpired,
  heldTo,
  hidden,
  orApprovers,
  putAs,
  putByPolicy,
  questionState,
  shownTerms,
  toPut,
  untilFirstChange,
} from './terms.ts';
