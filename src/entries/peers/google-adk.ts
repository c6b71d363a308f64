/**
 * Agents of Google’s Agent Development Kit, by `@google/adk`, under a host.
 * Stability: experimental.
 *
 * @packageDocumentation
 */
export type { FromGoogleAdkOptions } from '../../adapters/google-adk/index.ts';
export { fromGoogleAdk } from '../../adapters/google-adk/index.ts';
