import type { Place } from '../agent/index.ts';
import type { Event, EventInit } from '../log/index.ts';
import { createEvent, scopeOf, setTemp, storedDelta } from '../log/index.ts';
import type { OpenRun } from './open-run.ts';

/** An event of an agent's place in a run. What it sets of `temp:` state is kept with the run, and stored nowhere. */
export function eventAt(invocation: OpenRun, place: Place, init: EventInit): Event {
  const { stateDelta } = init.actions ?? {};
  if (stateDelta) keepTemp(invocation, place, stateDelta);
  return createEvent({
    turnId: invocation.turnId,
    invocationId: invocation.invocationId,
    streamId: invocation.streamId,
    path: place.path,
    ...(place.branch === undefined ? {} : { branch: place.branch }),
    ...(place.iso[0] === undefined ? {} : { iso: place.iso[0] }),
    ...shownElsewhere(place, init),
    ...init,
    ...(stateDelta ? { actions: { ...init.actions, stateDelta: storedDelta(stateDelta) } } : {}),
  });
}

function keepTemp({ temp }: OpenRun, place: Place, delta: Readonly<Record<string, unknown>>): void {
  for (const key of Object.keys(delta)) {
    if (scopeOf(key) === 'temp') setTemp(temp, place.iso[0] ?? '', key, delta[key]);
  }
}

/** Its thread, where neither `iso` nor `branch` says it. */
function shownElsewhere({ thread, iso, branch }: Place, init: EventInit): { thread?: string } {
  if (thread === undefined || init.iso !== undefined || thread === (iso[0] ?? branch)) return {};
  return { thread };
}
