/** Turns that no client holds: submitted, woken, taken over. */
export { Background } from './background.ts';
export type { SubmitOptions, SubmittedTurn } from './submit.ts';
