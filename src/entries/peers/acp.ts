/**
 * The Agent Client Protocol: agents of others as sessions, ours in editors.
 * Stability: experimental.
 *
 * @packageDocumentation
 */
export type { AcpServer } from '../../adapters/acp/index.ts';
export { fromAcp, serveAcp } from '../../adapters/acp/index.ts';
