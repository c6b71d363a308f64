import type { AgentEvent, AgentSession } from '../../../contracts/index.ts';
import { isCoxswainError } from '../../../contracts/index.ts';
import { cursorBehind, parseCursor } from '../../../session/resume/index.ts';
import { EventPage } from '../protocol/index.ts';

/** Bytes of a page: it has to get through a slow line before it counts as stuck. */
const PAGE_BYTES = 512 * 1024;

export const pageOf = (maxPayload: number): EventPage =>
  new EventPage(Math.min(PAGE_BYTES, maxPayload / 2), maxPayload / 2);

/** Stored events of a session from a place on, as many as one answer may have. */
export async function eventsFrom(
  session: AgentSession,
  after: string | undefined,
  limit: number,
  maxPayload: number,
): Promise<EventPage> {
  const page = pageOf(maxPayload);
  // One more than asked for tells whether there is more.
  for await (const event of session.events({ ...(after === undefined ? {} : { after }), limit: limit + 1 })) {
    if (page.length >= limit || !page.add(event)) return page.cut();
  }
  return page;
}

/**
 * The newest stored events of a session, oldest first, as many as one answer may have; `more`: there are older ones.
 * @param newest cursor of the newest one, where it is known: what lies far before it is not read
 */
export async function lastEvents(
  session: AgentSession,
  newest: string | undefined,
  limit: number,
  maxPayload: number,
): Promise<EventPage> {
  const { events, isCut } = await readBack(session, newest, limit);
  const page = pageOf(maxPayload);
  for (const event of events.toReversed()) if (!page.add(event)) return page.cut().reversed();
  return isCut ? page.cut().reversed() : page.reversed();
}

async function readBack(
  session: AgentSession,
  newest: string | undefined,
  limit: number,
): Promise<{ events: AgentEvent[]; isCut: boolean }> {
  // Where places are numbered, so many events back are at most so many numbers back.
  const seq = (newest === undefined ? undefined : parseCursor(newest)?.seq) ?? 0;
  for (let back = limit; ; back *= 2) {
    const from = Math.max(0, seq - back);
    try {
      const found = await read(session, from > 0 ? cursorBehind(from) : undefined, limit);
      // Of a log that was rewound many numbers stand for nothing: what counts lies before them.
      if (from === 0 || found.events.length >= limit / 2) return found;
    } catch (error) {
      // An executor with other places: they are no numbers that can be counted back.
      if (from === 0 || !isCoxswainError(error) || error.code !== 'E_BAD_INPUT') throw error;
      return read(session, undefined, limit);
    }
  }
}

async function read(
  session: AgentSession,
  after: string | undefined,
  limit: number,
): Promise<{ events: AgentEvent[]; isCut: boolean }> {
  let events: AgentEvent[] = [];
  let isCut = after !== undefined;
  for await (const event of session.events(after === undefined ? {} : { after })) {
    events.push(event);
    if (events.length < limit * 2) continue;
    events = events.slice(-limit);
    isCut = true;
  }
  return { events: events.slice(-limit), isCut: isCut || events.length > limit };
}
