/** Agents on a server, as AgentSessions: in Node and in browsers. */
export type { OpenApprovalOnWire } from './approvals.ts';
export { RemoteApprovals } from './approvals.ts';
export type { RemoteHost } from './connect.ts';
export { connect } from './connect.ts';
export type { ConnectOptions, LinkState, RemoteOpenOptions, WebSocketClass, WebSocketLike } from './options.ts';
export { RemoteSession } from './remote-session.ts';
