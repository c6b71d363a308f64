/** Serving agents over WebSocket: `spec/PROTOCOL.md`. */
export type { ExecutorOptions, Identity, ServerLimits, ServerOptions, Transport } from '../connection/index.ts';
export { Connection, DEFAULT_LIMITS } from '../connection/index.ts';
export type { AuthenticationRequest, ServeOptions } from './options.ts';
export type { AgentServer } from './serve.ts';
export { serve, serveExecutor } from './serve.ts';
export { isLoopback } from './upgrade.ts';
