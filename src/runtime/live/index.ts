/** A session that is open in this process, in step with its store. */
export type { CurrentRun, RunningInvocation } from './current-run.ts';
export { joinBus } from './doorbell.ts';
export type { Held } from './live-log.ts';
export { LiveSession } from './live-session.ts';
export { MOST_TRIES, outrun, readOn } from './outrun.ts';
export { hearText, TextTeller } from './partial-text.ts';
export type { Followed, FollowOptions } from './store-follower.ts';
export { DEFAULT_FOLLOW_MS, StoreFollower } from './store-follower.ts';
