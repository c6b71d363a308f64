/** The hosted session: answers, aborts, going on. */
export { callerOf, isSubagents } from './callers-own.ts';
export { assertClientRuns } from './clients-results.ts';
export type { DeniedSince } from './denied-question.ts';
export { deniedQuestion } from './denied-question.ts';
export { settleExpired } from './expiry.ts';
export { goOn, isUnfinished, resume } from './going-on.ts';
export { HostedSession } from './hosted-session.ts';
export { isStillThere } from './is-still-there.ts';
