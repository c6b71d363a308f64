import type { Event, SessionRecord, SessionService } from '../../runtime/index.ts';
import { abandoned, createEvent, LiveSession, responseEvent } from '../../runtime/index.ts';

/** What ends a copy's log: it does not inherit open questions, or one payment could be approved twice. */
export function settling(service: SessionService): (copy: SessionRecord) => readonly Event[] {
  return (copy) => settlement(LiveSession.apart(service, copy));
}

function settlement(live: LiveSession): readonly Event[] {
  const { fold } = live;
  if (fold.open.size === 0) return [];
  const origin = { streamId: '', invocationId: '' };
  const events = [...fold.open.values()]
    .reverse()
    .map((call) => responseEvent(call, abandoned(call, 'the session was forked', false), origin));
  if (fold.turn && fold.turn.ended === undefined) {
    events.push(
      createEvent({ turnId: fold.turn.id, author: fold.occupant ?? '', actions: { end: { reason: 'aborted' } } }),
    );
  }
  return live.link(events);
}
