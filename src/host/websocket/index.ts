/** Serving agents over WebSocket: `spec/PROTOCOL.md`. */
export type {
  AuthenticationRequest,
  ExecutorOptions,
  Identity,
  ServerLimits,
  ServerOptions,
  Transport,
} from '../connection/index.ts';
export { Connection, DEFAULT_LIMITS } from '../connection/index.ts';
export type { AgentServer } from './agent-server.ts';
export type { ServeOptions } from './options.ts';
export { serve, serveExecutor } from './serve.ts';
export { traceUrl } from './serve-shape.ts';
export { isLoopback } from './upgrade.ts';
