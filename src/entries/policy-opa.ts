/**
 * Policies of an Open Policy Agent server.
 * Stability: experimental.
 *
 * @packageDocumentation
 */
export { opaPolicy } from '../adapters/policy/opa.ts';
