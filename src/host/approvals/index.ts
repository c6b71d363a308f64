/** Open questions of all sessions, and sessions to go on with. */
export { Approvals, onlyOne } from './approvals.ts';
export type {
  ApprovalFilter,
  ApprovalHost,
  ApprovalPlace,
  BorrowedSession,
  OpenApproval,
  SessionPlace,
  WaitingSession,
} from './open-sessions.ts';
export type { Recovery } from './unfinished.ts';
export { findUnfinished, recoverSessions } from './unfinished.ts';
