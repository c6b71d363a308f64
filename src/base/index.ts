/** Option checks, lazy maps, ids, times and timers: helpers that know nothing of agents. */
export { Bell } from './bell.ts';
export { derived } from './derived.ts';
export { newId } from './identity.ts';
export { inTime } from './in-time.ts';
export { isThenable } from './is-thenable.ts';
export { LazyMap, LazySet } from './lazy.ts';
export { nearest } from './nearest.ts';
export { isEmpty, isObject, keepNewest } from './objects.ts';
export { breath, eachInPieces, MANY, Pace, pauseAfter } from './pace.ts';
export { pause } from './pause.ts';
export { charsOf, checkQuestionSize, whyTooLong } from './question-size.ts';
export type { Check, Shape } from './shape.ts';
export {
  amount,
  anything,
  badInput,
  bag,
  checkIs,
  checkMembers,
  checkNoPromise,
  checkOptions,
  checkShape,
  count,
  either,
  flag,
  fn,
  guarded,
  having,
  iterable,
  kindOf,
  list,
  listOf,
  literal,
  name,
  names,
  number,
  object,
  off,
  oneOf,
  required,
  signal,
  text,
  texts,
} from './shape.ts';
export { isUnlimited, strictestLimits } from './strictest-limits.ts';
export { clockCorrection, commonTime, isoTime, localTime, noteCommonTime } from './time.ts';
export { isTimed, KEEP_ALIVE_MS, keepingProcess, MAX_TIMER_MS } from './timer.ts';
export { ToldOnce } from './told-once.ts';
export { unreachable } from './unreachable.ts';
export { heedAbort, untilAborted, untilLate } from './until-aborted.ts';
export { warnOnStderr, warnWith } from './warn-on-stderr.ts';
