/**
 * Agents of a server, in Node, browsers and workers, with what reads their sessions.
 * Stability: stable.
 *
 * @packageDocumentation
 */
export type { SessionStore } from '../adapters/page/index.ts';
export { approvalStore, sessionStore } from '../adapters/page/index.ts';
export type {
  LinkState,
  RemoteApproval,
  RemoteApprovals,
  RemoteHost,
  RemoteSession,
} from '../adapters/remote/index.ts';
export { connect } from '../adapters/remote/index.ts';
export type {
  AgentDescriptor,
  AgentEvent,
  AgentSession,
  AgentSource,
  AgentStream,
  OpenRequest,
  Principal,
  ReportedRequest,
  RequestAnswer,
  SessionInput,
  SessionProvider,
  Settlement,
} from '../contracts/index.ts';
export { CoxswainError, isCoxswainError, textOfParts } from '../contracts/index.ts';
export type {
  RunResult,
  SessionView,
  StreamReading,
  ViewItem,
  ViewMessage,
  ViewThread,
  ViewToolCall,
} from '../session/index.ts';
export { createView, readStream, run, runOrThrow, textOf } from '../session/index.ts';
