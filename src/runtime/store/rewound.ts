import { setOwn } from '../../contracts/index.ts';
import type { OpenedCall, Rewound, StoredEvent } from '../log/index.ts';
import { openCallChanges } from '../log/index.ts';
import { foldState } from './store-rules.ts';

/** The marker of an event, if it is one. */
export function rewoundBy(event: StoredEvent): Rewound | undefined {
  return event.actions.rewound;
}

/** The events of a whole log that still count, the markers of rewinds among them, in order. */
export function effectiveEvents(events: readonly StoredEvent[]): StoredEvent[] {
  const effective: StoredEvent[] = [];
  for (const event of events) {
    const marker = rewoundBy(event);
    if (marker) while ((effective.at(-1)?.seq ?? 0) > marker.through) effective.pop();
    effective.push(event);
  }
  return effective;
}

/** What rewinds have cut of a log that is read in pages: they are known before the first page is. */
export class Cuts {
  /** Events with `from < seq < to`; in order, none within another. */
  readonly #spans: { from: number; to: number }[] = [];

  constructor(markers: readonly { seq: number; through: number }[]) {
    const spans = this.#spans;
    for (const { seq, through } of markers.toSorted((a, b) => a.through - b.through)) {
      const last = spans.at(-1);
      if (last && through < last.to) last.to = Math.max(last.to, seq);
      else spans.push({ from: through, to: seq });
    }
  }

  /** Those that count, markers among them. */
  counting(events: readonly StoredEvent[]): readonly StoredEvent[] {
    let at = this.#spanBehind(events[0]?.seq ?? 0);
    let span = this.#spans[at];
    return events.filter(({ seq }) => {
      while (span && span.to <= seq) span = this.#spans[++at];
      return !span || seq <= span.from;
    });
  }

  /** Place of the first span that ends behind this seq. */
  #spanBehind(seq: number): number {
    let [low, high] = [0, this.#spans.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#spans[middle]?.to ?? 0) > seq) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

/** Calls, and the turn, that a log leaves open: it is given those of its events that count, in pieces. */
export class OpenCallFold {
  readonly #open = new Map<string, OpenedCall>();
  #agent: string | undefined;
  #isTurnOpen = false;

  add(events: readonly StoredEvent[]): void {
    const { opened, closed } = openCallChanges(events);
    for (const callId of closed) this.#open.delete(callId);
    for (const call of opened) {
      // One that is made again takes its place at the end.
      this.#open.delete(call.callId);
      this.#open.set(call.callId, call);
    }
    for (const { actions } of events) {
      if (actions.turn) this.#agent = actions.turn.root ?? actions.turn.start;
      if (actions.turn || actions.reopened) this.#isTurnOpen = true;
      if (actions.end) this.#isTurnOpen = false;
    }
  }

  /** The root of the agents with which the newest turn has begun, if that has not ended. */
  openTurn(): string | undefined {
    return this.#isTurnOpen ? this.#agent : undefined;
  }

  opened(): OpenedCall[] {
    return [...this.#open.values()];
  }
}

/**
 * The delta that brings a session's own state back to what it was after `through`. Shared keys stay as they are.
 */
export function deltaBackTo(
  initialState: Readonly<Record<string, unknown>>,
  events: readonly StoredEvent[],
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
