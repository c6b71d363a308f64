import type { Place } from '../agent/index.ts';
import type { EventInit, StoredEvent } from '../log/index.ts';
import { createEvent, noDelta, scopeOf, setTemp, storedDelta } from '../log/index.ts';
import type { OpenRun } from './open-run.ts';

/** An event of an agent's place in a run. What it sets of `temp:` state is kept with the run, and stored nowhere. */
export function eventAt(invocation: OpenRun, place: Place, init: EventInit): StoredEvent {
  const stateDelta = init.actions?.stateDelta;
  const { turnId, invocationId, streamId } = invocation;
  const at: Partial<EventInit> = { turnId, invocationId, streamId, path: place.path };
  if (place.branch !== undefined) at.branch = place.branch;
  if (place.iso[0] !== undefined) at.iso = place.iso[0];
  if (isShownElsewhere(place, init)) at.thread = place.thread;
  const made = Object.assign(at, init);
  if (stateDelta && stateDelta !== noDelta) {
    keepTemp(invocation, place, stateDelta);
    made.actions = { ...init.actions, stateDelta: storedDelta(stateDelta) };
  }
  return createEvent(made);
}

function keepTemp({ temp }: OpenRun, place: Place, delta: Readonly<Record<string, unknown>>): void {
  for (const key of Object.keys(delta)) {
    if (scopeOf(key) === 'temp') setTemp(temp, place.iso[0] ?? '', key, delta[key]);
  }
}

/** Its thread, where neither `iso` nor `branch` says it. */
function isShownElsewhere(place: Place, init: EventInit): place is Place & { thread: string } {
  const { thread, iso, branch } = place;
  return thread !== undefined && init.iso === undefined && thread !== (iso[0] ?? branch);
}
