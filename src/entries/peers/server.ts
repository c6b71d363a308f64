/**
 * Serves agents over WebSocket: `spec/PROTOCOL.md`. Node only.
 * Stability: stable.
 *
 * @packageDocumentation
 */
export type { AgentServer, AuthenticationRequest } from '../../host/websocket/index.ts';
export { serve, serveExecutor } from '../../host/websocket/index.ts';
