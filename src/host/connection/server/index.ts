/** What is served, to whom, and the methods. */
export type { ServerOptions } from './ceiling.ts';
export type { ConnectionOptions, Identity } from './connection.ts';
export { Connection } from './connection.ts';
export type { HubOptions } from './hub.ts';
export { Hub } from './hub.ts';
export type { OpenSessionParams, Served, ServedApprovals } from './served.ts';
export type { ExecutorOptions } from './served-executor.ts';
export { servedExecutor } from './served-executor.ts';
export { servedHost } from './served-host.ts';
