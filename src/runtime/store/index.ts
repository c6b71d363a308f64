/** The contract of session stores, the rules that all keep, the store in memory. */
export type { EventRow, StoredEventRow } from './event-codec.ts';
export { decodeEvent, encodeEvent, sqlTime, timeOf } from './event-codec.ts';
export { InMemorySessionService } from './in-memory-session-service.ts';
export type { QuestionRow } from './question-rows.ts';
export { callsOfQuestions, QuestionBook, questionTouch, storedDecision } from './question-rows.ts';
export { Cuts, deltaBackTo, effectiveEvents, OpenCallFold, rewoundBy } from './rewound.ts';
export type { FactsChange, SessionFacts } from './session-facts.ts';
export { addFacts, factsChange, listedFacts, MAX_TOOLS, noFacts, toolEntry } from './session-facts.ts';
export type {
  AlteredRow,
  AppendOptions,
  CheckpointStore,
  ForkOptions,
  Lease,
  LeaseAppend,
  OpenCall,
  OpenTurn,
  RestoredSession,
  SessionKey,
  SessionRecord,
  SessionService,
  Settle,
  SettlePages,
  StoredCheckpoint,
  UnattendedOptions,
  UnattendedTurn,
} from './session-service.ts';
export { idsBelow, SessionsBelow } from './sessions-below.ts';
export { endOfAll, settling } from './settling.ts';
export { stateAt } from './state-at.ts';
export type { SplitState } from './store-rules.ts';
export {
  batchDelta,
  checkKey,
  checkScope,
  eventWindow,
  firstEpoch,
  foldState,
  newKey,
  placeEvent,
  sealEvent,
  sealedLog,
  sealLog,
  splitInitial,
  storeInput,
  storeRefusal,
  titleChange,
  wholeNumber,
} from './store-rules.ts';
export { faultOfEvent } from './stored-event.ts';
