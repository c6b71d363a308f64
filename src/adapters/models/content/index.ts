/** What all providers share in requests and answers. */
export type { CacheLife, CacheMark } from './cache-life.ts';
export { CACHE_LIVES, cacheMark } from './cache-life.ts';
export { parseArgs } from './call-args.ts';
export type { CommonConfig, ToolChoice } from './config.ts';
export { renamed, splitConfig, withRest } from './config.ts';
export {
  CallIds,
  decodeText,
  mediaNote,
  mediaOf,
  outcomeText,
  textOfPart,
  toolOutcome,
  turnsOf,
} from './conversation.ts';
export type { TokenCounts } from './counts.ts';
export { countsOf, grown, isCount } from './counts.ts';
export type { ModelFailure } from './failure.ts';
export {
  bodyFailure,
  checkedText,
  fromBody,
  knownEnd,
  laterEnd,
  modelFailureOf,
  ProviderFailure,
  redact,
} from './failure.ts';
export { callPart, extrasOf, isOpaquePart, opaquePart, stateOf, withDistinctIds, withState } from './opaque.ts';
