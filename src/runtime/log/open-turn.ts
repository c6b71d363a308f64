import type { StoredEvent } from './event.ts';

/** What a batch does to the mark of a session's open turn. */
export type OpenTurnChange =
  /** One has begun, with the agents below this one. */
  | { kind: 'opened'; agent: string }
  /** The newest one has ended. */
  | { kind: 'closed' }
  /** Which one it is says the whole log. */
  | { kind: 'unknown' };

/** Undefined: none. */
export function openTurnChange(events: readonly StoredEvent[]): OpenTurnChange | undefined {
  let change: OpenTurnChange | undefined;
  for (const { actions } of events) {
    if (actions.turn) change = { kind: 'opened', agent: actions.turn.root ?? actions.turn.start };
    if (actions.reopened || actions.rewound) change = { kind: 'unknown' };
    if (actions.end && change?.kind !== 'unknown') change = { kind: 'closed' };
  }
  return change;
}

/** The root of the agents with which the newest turn has begun, if that has not ended; of all events of a log that count. */
export function openTurnOf(events: readonly StoredEvent[]): string | undefined {
  let agent: string | undefined;
  let isOpen = false;
  for (const { actions } of events) {
    if (actions.turn) agent = actions.turn.root ?? actions.turn.start;
    if (actions.turn || actions.reopened) isOpen = true;
    if (actions.end) isOpen = false;
  }
  return isOpen ? agent : undefined;
}
