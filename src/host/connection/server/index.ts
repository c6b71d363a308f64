/** What is served, to whom, and the methods. */
export type { OperatorOf } from '../../operator/index.ts';
export type { Authorize } from './authorize.ts';
export type { ServerOptions } from './ceiling.ts';
export type { ConnectionOptions, Identity } from './connection.ts';
export { Connection, whenEnded } from './connection.ts';
export type { Authenticate, AuthenticationRequest, PageCredentials, RequestHead } from './gatekeeper.ts';
export { bearerOf, Gatekeeper, LOOPBACK_NAMES } from './gatekeeper.ts';
export type { HubOptions } from './hub.ts';
export { Hub } from './hub.ts';
export type { FollowedSession, RequestSink } from './request-caller.ts';
export { RequestCaller } from './request-caller.ts';
export type { OpenSessionParams, Rewind, Served, ServedApprovals, Verify } from './served.ts';
export type { ExecutorOptions } from './served-executor.ts';
export { servedExecutor } from './served-executor.ts';
export { servedHost } from './served-host.ts';
