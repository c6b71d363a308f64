/** Sessions that are looked for, and what operators see of those of others. */
export { artifactContent } from './artifact-content.ts';
export type { SearchedSessions, SessionSearch, SessionState } from './find-sessions.ts';
export { findSessions, shownSummary, timeGiven } from './find-sessions.ts';
export { OperatorView } from './operator.ts';
export type { OperatorOf, OperatorScope } from './scope.ts';
