/** What the host noted itself of calls, for executors that it does not believe. */
export type { Claimed } from './believed.ts';
export { claimed } from './believed.ts';
export { journalOf } from './journal-of.ts';
export { SessionJournal } from './session-journal.ts';
export { WitnessedSession } from './witnessed-session.ts';
