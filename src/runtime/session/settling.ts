import { LiveSession } from '../live/index.ts';
import type { Event } from '../log/index.ts';
import type { SessionRecord, SessionService } from '../store/index.ts';
import { endOfAll } from './abort-idle.ts';

/** What ends a copy's log: it does not inherit open questions, or one payment could be approved twice. */
export function settling(service: SessionService): (copy: SessionRecord) => readonly Event[] {
  return (copy) => {
    const live = LiveSession.apart(service, copy);
    if (live.fold.open.size === 0) return [];
    return live.link(endOfAll(live.fold, '', 'the session was forked', false));
  };
}
