/**
 * The Agent Client Protocol: agents of others as sessions, ours in editors.
 * Stability: experimental.
 *
 * @packageDocumentation
 */
export type { AcpCommand, AcpServer, FromAcpOptions, ServeAcpOptions } from '../../adapters/acp/index.ts';
export { fromAcp, serveAcp } from '../../adapters/acp/index.ts';
