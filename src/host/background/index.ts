/** Turns that no client holds: submitted, woken, taken over. */
export type { BackgroundHost } from './background.ts';
export { Background } from './background.ts';
export { withoutDeadly } from './deadly.ts';
export type { GivenUpWebhook, Webhooks } from './owed.ts';
export type { Schedule, ScheduleState, Schedules } from './schedules.ts';
export type { SubmitOptions, SubmittedTurn } from './submit.ts';
export { unattendedOf } from './unattended.ts';
export type { Work, WorkOptions } from './work.ts';
