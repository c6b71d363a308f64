/** Agents on a server, as AgentSessions: in Node and in browsers. */
export { connect } from './connect.ts';
export type { ConnectOptions, LinkState, RemoteOpenOptions, WebSocketClass, WebSocketLike } from './options.ts';
export type { RemoteApproval, RemoteApprovals, RemoteHost, RemoteSession } from './remote-host.ts';
