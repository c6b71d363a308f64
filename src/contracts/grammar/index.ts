/** Which order of events a stream may have. */
export type { GrammarChecker, GrammarOptions, GrammarRule, GrammarViolation } from './grammar.ts';
export { checkStream, createGrammarChecker } from './grammar.ts';
