/** The events of a session, and what folds of them say. */
export type { Activation } from './activation.ts';
export type { AnswerOrigin } from './answers.ts';
export { abandoned, answerEvent, answerId, approvalEvent, hasRunOf, responseEvent, settlementOf } from './answers.ts';
export type { CallNotes } from './call-notes.ts';
export { callNotes, noteOn, withoutNotes } from './call-notes.ts';
export type { AskState, CallState, Settled } from './call-state.ts';
export { callTurns } from './call-state.ts';
export type { ChainState } from './chain.ts';
export { Chain, evidenceOf, extendChain, isAudited, isLinked } from './chain.ts';
export { digestInPieces, digestOf } from './digest.ts';
export type {
  Ask,
  BeganRecord,
  ChainLink,
  Compacted,
  CompletedRecord,
  EventActions,
  EventError,
  EventInit,
  Rewound,
  StoredAnswer,
  StoredEvent,
  TurnEnd,
} from './event.ts';
export {
  createActions,
  createEvent,
  isFinalResponse,
  isLarge,
  noDelta,
  noEffects,
  noIds,
  sizeOf,
  threadOf,
} from './event.ts';
export type { SessionConfig } from './fold.ts';
export { Fold } from './fold.ts';
export type { FoldState } from './fold-state.ts';
export { deliveredWords, markedLines } from './late-words.ts';
export type { OpenedCall } from './open-calls.ts';
export { openCallChanges } from './open-calls.ts';
export type { OpenTurnChange } from './open-turn.ts';
export { openTurnChange, openTurnOf } from './open-turn.ts';
export type { Failure, Outcome } from './outcome.ts';
export { DONE, isPlainDone, SUSPENDED } from './outcome.ts';
export { isWithin, slotOfCall } from './slot-path.ts';
export type { StateScope } from './state.ts';
export {
  applyDelta,
  joinState,
  noState,
  StateView,
  scopeOf,
  setTemp,
  sharedPart,
  splitDelta,
  stateValue,
  storedDelta,
} from './state.ts';
export type { Standing, TurnState } from './turn-state.ts';
export type { ChainFault, ChainFaultKind, ChainHead, ChainReport, ChainRow, VerifyOptions } from './verify-chain.ts';
export { verifyLog, verifyRows } from './verify-chain.ts';
