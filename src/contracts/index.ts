// Declarations name AsyncDisposable, which the target of whoever reads them may lack.
/// <reference lib="esnext.disposable" preserve="true" />
/** The protocol. Types are erased: importing this loads neither zod nor anything else. */

export type * from './decided.ts';
export type {
  GrammarChecker,
  GrammarOptions,
  GrammarRule,
  GrammarViolation,
} from './grammar/index.ts';
export { checkStream, createGrammarChecker } from './grammar/index.ts';
export type * from './hosts.ts';
export type * from './nodes.ts';
export * from './protocol.ts';
export * from './types/index.ts';
export * from './values/index.ts';
