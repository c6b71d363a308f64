/** What a session that is followed or taken up again sends: from which place, which events, which deltas. */
export { cursorBehind, cursorOf, parseCursor } from './cursor.ts';
export { Assembler, joinedDeltas, MAX_JOINED_DELTAS, Offsets } from './deltas.ts';
export { EventReading, ShownEvents } from './event-reading.ts';
export type { ClaimedPosition } from './resume-place.ts';
export { claimOf, restartPlace, resumePlace } from './resume-place.ts';
