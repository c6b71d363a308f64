/** Open questions of all sessions, and sessions to go on with. */
export type { Approvals } from './approvals.ts';
export { HostApprovals, onlyOne } from './host-approvals.ts';
export { isLeft, lookInto, withoutSubagents } from './open-places.ts';
export type {
  ApprovalFilter,
  ApprovalHost,
  ApprovalPlace,
  BorrowedSession,
  OpenApproval,
  WaitingSession,
} from './open-sessions.ts';
export type { Recovery } from './unfinished.ts';
export { findUnfinished, recoverSessions } from './unfinished.ts';
export { hasCaller, toldToOwner } from './unread-sessions.ts';
