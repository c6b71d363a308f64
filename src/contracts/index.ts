// Declarations name AsyncDisposable, which the target of whoever reads them may lack.
/// <reference lib="esnext.disposable" preserve="true" />
/** The public surface. Types are erased: importing this loads neither zod nor anything else. */

export type { GrammarChecker, GrammarOptions, GrammarRule, GrammarViolation } from './grammar/grammar.ts';
export { checkStream, createGrammarChecker } from './grammar/grammar.ts';
export type * from './hosts.ts';
export * from './protocol.ts';
export * from './types/answer-limits.ts';
export type * from './types/approvals.ts';
export * from './types/content.ts';
export type * from './types/descriptor.ts';
export type * from './types/events.ts';
export type * from './types/journal.ts';
export * from './types/lifecycle.ts';
export type * from './types/policy.ts';
export * from './types/prices.ts';
export type * from './types/session.ts';
export type * from './types/telemetry.ts';
export * from './types/tools.ts';
export type { Closed } from './values/closed.ts';
export * from './values/errors.ts';
export * from './values/ids.ts';
export * from './values/json.ts';
export { PACKAGE_VERSION } from './values/package-version.ts';
export type { QuestionKind } from './values/question-id.ts';
export {
  agentQuestionId,
  callIdOf,
  isAskedByRun,
  isDerivedQuestion,
  isHostQuestion,
  isPolicyQuestion,
  isQuestion,
  questionId,
  questionNumber,
} from './values/question-id.ts';
