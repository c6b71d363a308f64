/** Errors, ids and JSON. */
export type { Closed } from './closed.ts';
export * from './error-table.ts';
export * from './errors.ts';
export * from './host-facts.ts';
export * from './ids.ts';
export * from './json.ts';
export { PACKAGE_VERSION } from './package-version.ts';
export * from './permission-modes.ts';
export type { PolicyOutcome } from './policy-outcome.ts';
export { POLICY_OUTCOMES, policyOutcome, withPresentWord } from './policy-outcome.ts';
export * from './question-id.ts';
export * from './usage-counts.ts';
export * from './wire-codes.ts';
