/** The public surface. Types are erased: importing this loads neither zod nor anything else. */
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
export * from './json.ts';
export * from './lifecycle.ts';
export type * from './policy.ts';
export * from './prices.ts';
export * from './protocol.ts';
export type * from './session.ts';
export type * from './telemetry.ts';
export * from './tools.ts';
