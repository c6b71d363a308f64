/** Open questions of all sessions, and sessions to go on with. */
export { Approvals, onlyOne } from './approvals.ts';
export type {
  ApprovalFilter,
  ApprovalHost,
  ApprovalPlace,
  BorrowedSession,
  OpenApproval,
  OpenSession,
  SessionPlace,
} from './open-sessions.ts';
export type { Recovery } from './unfinished.ts';
export { findUnfinished, recover } from './unfinished.ts';
