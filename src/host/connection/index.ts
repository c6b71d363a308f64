export type { Opened, ServerLimits, Transport } from './protocol/index.ts';
export { DEFAULT_LIMITS, loadProtocol, serverLimits } from './protocol/index.ts';
export type {
  ConnectionOptions,
  ExecutorOptions,
  HubOptions,
  Identity,
  OpenSessionParams,
  Served,
  ServedApprovals,
  ServerOptions,
} from './server/index.ts';
export { Connection, Hub, servedExecutor, servedHost } from './server/index.ts';
