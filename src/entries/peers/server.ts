/**
 * Serves agents over WebSocket: `spec/PROTOCOL.md`. Node only.
 * Stability: stable.
 *
 * @packageDocumentation
 */
export type {
  AgentServer,
  AuthenticationRequest,
  Identity,
  ServeOptions,
} from '../../host/websocket/index.ts';
export { serve, serveExecutor } from '../../host/websocket/index.ts';
