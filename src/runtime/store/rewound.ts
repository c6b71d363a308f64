import { setOwn } from '../../contracts/index.ts';
import type { Event, OpenedCall, Rewound } from '../log/index.ts';
import { openCallChanges, openTurnOf } from '../log/index.ts';
import { foldState } from './store-rules.ts';

/** The marker of an event, if it is one. */
export function rewoundBy(event: Event): Rewound | undefined {
  return event.actions.rewound;
}

/** The events of a whole log that still count, the markers of rewinds among them, in order. */
export function effectiveEvents(events: readonly Event[]): Event[] {
  const effective: Event[] = [];
  for (const event of events) {
    const marker = rewoundBy(event);
    if (marker) while ((effective.at(-1)?.seq ?? 0) > marker.through) effective.pop();
    effective.push(event);
  }
  return effective;
}

/** Calls, and the turn, that a whole log leaves open; it may be given in pieces. */
export class OpenCallFold {
  #events: Event[] = [];

  add(events: readonly Event[]): void {
    for (const event of events) {
      const calls = event.content?.parts.some(({ type }) => type === 'function_call' || type === 'function_response');
      const { turn, reopened, end } = event.actions;
      if (calls || turn || reopened || end || rewoundBy(event)) this.#events.push(event);
    }
  }

  /** The agent at which the newest turn has begun, if that has not ended. */
  openTurn(): string | undefined {
    return openTurnOf(effectiveEvents(this.#events));
  }

  opened(): OpenedCall[] {
    return openCallChanges(effectiveEvents(this.#events)).opened;
  }
}

/**
 * The delta that brings a session's own state back to what it was after `through`. Shared keys stay as they are.
 */
export function deltaBackTo(
  initialState: Readonly<Record<string, unknown>>,
  events: readonly Event[],
  through: number,
): Record<string, unknown> {
  const now = { ...initialState };
  foldState(now, events);
  const then = { ...initialState };
  foldState(
    then,
    effectiveEvents(events).filter(({ seq }) => seq <= through),
  );
  const delta: Record<string, unknown> = {};
  for (const key of Object.keys(now)) if (!Object.hasOwn(then, key)) setOwn(delta, key, null);
  for (const key of Object.keys(then)) if (!Object.is(now[key], then[key])) setOwn(delta, key, then[key]);
  return delta;
}
