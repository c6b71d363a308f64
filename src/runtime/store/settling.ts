import type { Event } from '../log/index.ts';
import { abandoned, Chain, createEvent, Fold, responseEvent, sharedPart } from '../log/index.ts';
import type { SessionRecord, SessionService } from './session-service.ts';

/** What ends a copy's log: it does not inherit open questions, or one payment could be approved twice. */
export function settling({ chained }: SessionService): (copy: SessionRecord) => readonly Event[] {
  return ({ initialState, state, events }) => {
    const fold = new Fold(initialState, sharedPart(state));
    const chain = new Chain();
    const log: Event[] = [];
    for (const event of events) {
      if (chained !== false) chain.see(event);
      const through = event.actions.rewound?.through;
      if (through !== undefined) {
        const from = log.findIndex(({ seq }) => seq > through);
        fold.rewind(initialState, log, from < 0 ? [] : log.splice(from));
      }
      log.push(event);
      fold.apply(event);
    }
    if (fold.open.size === 0) return [];
    const end = endOfAll(fold, '', 'the session was forked', false);
    return chained === false ? end : chain.link(end);
  };
}

/**
 * What closes all that is open, and the turn.
 * @param agent who ends a turn that nobody is in
 * @param mayHaveRun false: of a copy, in which none of the calls was ever started
 */
export function endOfAll(fold: Fold, agent: string, reason: string, mayHaveRun?: false): Event[] {
  const origin = { streamId: '', invocationId: '' };
  // Leaf first: what was asked last is closed first.
  const events = [...fold.open.values()]
    .reverse()
    .map((call) => responseEvent(call, abandoned(call, reason, mayHaveRun), origin));
  if (fold.turn && fold.turn.ended === undefined) {
    const author = fold.occupant ?? agent;
    events.push(createEvent({ turnId: fold.turn.id, author, actions: { end: { reason: 'aborted' } } }));
  }
  return events;
}
