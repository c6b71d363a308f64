// Declarations name AsyncDisposable, which the target of whoever reads them may lack.
/// <reference lib="esnext.disposable" preserve="true" />
/** The public surface. Types are erased: importing this loads neither zod nor anything else. */
export * from './answer-limits.ts';
export type * from './approvals.ts';
export type { Closed } from './closed.ts';
export * from './content.ts';
export type * from './descriptor.ts';
export * from './errors.ts';
export type * from './events.ts';
export type { GrammarChecker, GrammarOptions, GrammarRule, GrammarViolation } from './grammar.ts';
export { checkStream, createGrammarChecker } from './grammar.ts';
export type * from './hosts.ts';
export * from './ids.ts';
export type * from './journal.ts';
export * from './json.ts';
export * from './lifecycle.ts';
export { PACKAGE_VERSION } from './package-version.ts';
export type * from './policy.ts';
export * from './prices.ts';
export * from './protocol.ts';
export type * from './session.ts';
export type * from './telemetry.ts';
export * from './tools.ts';
