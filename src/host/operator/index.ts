/** Sessions that are looked for, and what operators see of those of others. */
export type { FoundSessions, SessionQuery, SessionState } from './find-sessions.ts';
export { findSessions, shownSummary, timeOf } from './find-sessions.ts';
export { OperatorView } from './operator.ts';
export type { OperatorOf, OperatorScope } from './scope.ts';
