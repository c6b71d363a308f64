export type { Opened, ServerLimits, Transport } from './protocol/index.ts';
export { DEFAULT_LIMITS, limitsOf, loadProtocol } from './protocol/index.ts';
export type {
  ConnectionOptions,
  ExecutorOptions,
  HubOptions,
  Identity,
  OpenRequest,
  Served,
  ServedApprovals,
  ServerOptions,
} from './server/index.ts';
export { Connection, Hub, servedExecutor, servedHost } from './server/index.ts';
