/** What a host and its executor agree on beside the public contract. */
export type { AnnouncedCall, AnnouncedTool, HookQuestion } from './announced.ts';
export { announcedIn, announcing, isAnnouncedTool } from './announced.ts';
export type { ApprovedContext } from './approved-preview.ts';
export { approvedPreview } from './approved-preview.ts';
export { damagedNotes } from './damaged-notes.ts';
export { decisionShown } from './decision-shown.ts';
export type { BookEntry } from './host-books.ts';
export { BOOK_TRIES, eraseFromBooks, HOST_NOTES, hostBook, OUTCOME_BOOKS, SCHEDULE_BOOK } from './host-books.ts';
export { withoutHostFacts } from './host-facts.ts';
export { MemoryJournal } from './memory-journal.ts';
export { OwedAnswers } from './owed-answers.ts';
export { claimOwn, isOwn } from './own-session.ts';
export type {
  AnsweredSession,
  EndedLog,
  Heeded,
  HeedfulSession,
  HoldableSession,
  HoldOptions,
  JoiningOptions,
  LogEnd,
  PipeableSession,
  Stirred,
  StirringSession,
  TextualSession,
} from './pipe.ts';
export {
  answeredNow,
  begins,
  fromEnd,
  heed,
  hold,
  isHeedful,
  isHoldable,
  isPipeable,
  isStirring,
  isTextual,
  joined,
  keepsAnswers,
  knowsEnd,
  openNow,
  openRequest,
  partialTexts,
  pipe,
  startCalls,
  stirs,
  unlessSince,
} from './pipe.ts';
export type { QuestionKeeper } from './put-questions.ts';
export { keepsQuestions, putQuestions } from './put-questions.ts';
export type { ArtifactLender } from './result-artifacts.ts';
export { keepsArtifacts, keptArtifacts, lendsArtifacts, resultArtifacts } from './result-artifacts.ts';
