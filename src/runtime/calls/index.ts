/** Tool calls of an agent: prepared, scheduled, run, closed. */
export { endOfCall, endOfSlot, ownerOfThread, releaseWithin, storeEnd } from './close-slot.ts';
export { hasUnheard, runDetachedCalls, unheardCalls } from './detached-calls.ts';
export { callsToJoin } from './joining.ts';
export type { Prepared } from './prepare-call.ts';
export { prepareCall, refusalEvents } from './prepare-call.ts';
export { settleCalls } from './scheduler.ts';
