/** What all providers share in requests and answers. */
export { parseArgs } from './call-args.ts';
export type { CommonConfig, ToolChoice } from './config.ts';
export { renamed, splitConfig, withRest } from './config.ts';
export { CallIds, decodeText, mediaNote, mediaOf, outcomeOf, outcomeText, turnsOf, wordsOf } from './conversation.ts';
export { countsOf, grown, isCount } from './counts.ts';
export type { Failure } from './failure.ts';
export { bodyFailure, failureOf, fromBody, knownEnd, laterEnd, ProviderFailure, redact, textOf } from './failure.ts';
export { callPart, extrasOf, isOpaquePart, opaquePart, stateOf, withDistinctIds, withState } from './opaque.ts';
