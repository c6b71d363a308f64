/**
 * Agents of Google’s Agent Development Kit, by `@google/adk`, under a host.
 * Stability: experimental.
 *
 * @packageDocumentation
 */
export { fromGoogleAdk } from '../../adapters/google-adk/index.ts';
