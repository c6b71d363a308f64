/**
 * Policies of an Open Policy Agent server.
 * Stability: experimental.
 *
 * @packageDocumentation
 */
export type { OpaPolicyOptions } from '../adapters/policy/opa.ts';
export { opaPolicy } from '../adapters/policy/opa.ts';
