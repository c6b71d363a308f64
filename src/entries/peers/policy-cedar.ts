/**
 * Policies in Cedar, by `@cedar-policy/cedar-wasm`.
 * Stability: experimental.
 *
 * @packageDocumentation
 */
export type { CedarPolicy } from '../../adapters/policy/cedar.ts';
export { cedarPolicy, cedarSchema } from '../../adapters/policy/cedar.ts';
