/** Calls as tasks: what runs on without its caller, and what becomes of it. */
export type { Call } from './handed-calls.ts';
export { Tasks } from './tasks.ts';
