/** What works over any AgentSession, whoever implements it. */

export type { Check, Shape } from '../base/index.ts';
export {
  amount,
  anything,
  badInput,
  bag,
  breath,
  charsOf,
  checkIs,
  checkNoPromise,
  checkOptions,
  checkShape,
  count,
  derived,
  eachInPieces,
  either,
  flag,
  fn,
  guarded,
  having,
  inTime,
  isoTime,
  iterable,
  keepNewest,
  kindOf,
  LazyMap,
  LazySet,
  list,
  listOf,
  literal,
  MANY,
  name,
  names,
  nearest,
  newId,
  number,
  object,
  off,
  oneOf,
  Pace,
  pauseAfter,
  required,
  signal,
  strictestLimits,
  ToldOnce,
  text,
  texts,
  unreachable,
  whyTooLong,
} from '../base/index.ts';
export { callIdOf, isHostQuestion, PERMISSION_MODES } from '../contracts/index.ts';
export * from './audit.ts';
export type { ApproverTerms } from './checks/index.ts';
export {
  AnswerCounter,
  anOutcome,
  answerLimits,
  awaitsMore,
  checkAbort,
  checkAnswer,
  checkContent,
  checkEvents,
  checkExecution,
  checkHooks,
  checkLimits,
  checkNames,
  checkPrincipal,
  checkRequestId,
  checkSize,
  checkSteer,
  hasVoted,
  inFull,
  listedSession,
  MAX_INPUT_CHARS,
  mayAnswer,
  nameOfPrincipal,
  normaliseInput,
  permissionMode,
  personOf,
  rolesOf,
  sessionTitle,
  streamIdOf,
  unfitOfPrincipal,
  whyNotApprover,
} from './checks/index.ts';
export { compactIn } from './compact.ts';
export type { DecidedQuestion } from './decided-question.ts';
export type { CallExplanation, TriedRule } from './explained-call.ts';
export * from './guarded-telemetry.ts';
export type {
  AnnouncedCall,
  AnnouncedTool,
  AnsweredSession,
  ApprovedContext,
  Heeded,
  HeedfulSession,
  HoldableSession,
  HoldOptions,
  HookQuestion,
  JoiningOptions,
  PipeableSession,
  QuestionKeeper,
  Stirred,
  StirringSession,
} from './link/index.ts';
export {
  announcedIn,
  announcing,
  answeredNow,
  approvedPreview,
  begins,
  claimOwn,
  damagedNotes,
  decisionShown,
  heed,
  hold,
  isAnnouncedTool,
  isHeedful,
  isHoldable,
  isOwn,
  isPipeable,
  isStirring,
  isTextual,
  joined,
  keepsAnswers,
  keepsArtifacts,
  keepsQuestions,
  keptArtifacts,
  lendsArtifacts,
  MemoryJournal,
  OwedAnswers,
  openNow,
  openRequest,
  partialTexts,
  pipe,
  putQuestions,
  resultArtifacts,
  startCalls,
  stirs,
  unlessSince,
} from './link/index.ts';
export type { LogMark } from './log-mark.ts';
export { markAt, readBehind } from './log-mark.ts';
export { pieceOf } from './piece.ts';
export * from './redact.ts';
export type { HiddenBeside } from './redact-events.ts';
export { EventRedaction, eventFacts } from './redact-events.ts';
export * from './run.ts';
export { nameOfPlace } from './session-place.ts';
export type { Joining } from './stream/index.ts';
export {
  AnswerWords,
  addUsage,
  EventStream,
  joinedEvents,
  LastWords,
  StreamQueue,
  StreamSummary,
} from './stream/index.ts';
export * from './trace.ts';
export * from './view.ts';
export { visible } from './visible.ts';
