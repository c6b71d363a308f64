import type { AgentEvent, EventsOptions } from '../../contracts/index.ts';
import { CoxswainError } from '../../contracts/index.ts';
import { checkIs, count, StreamQueue } from '../../session/index.ts';
import { EventReading, ShownEvents } from '../../session/resume/index.ts';
import type { Feed } from './feed.ts';

type Page = (after: string | undefined, limit: number) => Promise<{ events: AgentEvent[]; more: boolean }>;

const PAGE = 1000;

const NONE = { events: [], more: false };

/** Stored events, page by page. */
export async function* storedEvents(page: Page, options: EventsOptions): AsyncGenerator<AgentEvent> {
  const reading = new EventReading(options);
  let cursor = reading.after;
  let next: ReturnType<Page> | undefined;
  while (!reading.isOver) {
    const { events, more } = await (next ?? page(cursor, Math.min(PAGE, reading.left)));
    cursor = events.findLast((event) => event.cursor !== undefined)?.cursor ?? cursor;
    const isLast = !more || events.length === 0;
    // While these are looked at, the next ones are on their way, unless they may be more than are wanted.
    next = isLast || reading.left !== Number.POSITIVE_INFINITY ? undefined : page(cursor, PAGE);
    // Whoever leaves hears nothing of it.
    next?.catch(() => {});
    for (const event of events) if (reading.takes(event)) yield event;
    if (isLast) return;
  }
}

/** Stored events, then those that are stored from now on; each once. Ends with the feed. */
export function liveEvents(page: Page, feed: Feed, options: EventsOptions): AsyncIterableIterator<AgentEvent> {
  let leave = async () => {};
  return new StreamQueue<AgentEvent>(
    async (out) => {
      // Before the first page: nothing falls in between.
      const live = feed.open();
      const { over, stop } = feed.ended();
      leave = async () => {
        stop();
        await live.return?.();
      };
      over.catch(() => {});
      // A page may wait for a connection as long as there is none.
      const unlessOver: Page = async (...asked) => (await Promise.race([over, page(...asked)])) ?? NONE;
      const stored = storedEvents(unlessOver, options);
      const reading = new EventReading(options);
      const shown = new ShownEvents();
      try {
        for await (const event of stored) {
          shown.add(event);
          if (reading.takes(event)) out.push(event);
          if (reading.isOver) return;
          await out.room(false);
        }
        for await (const event of live) {
          if (event.cursor === undefined || shown.has(event)) continue;
          if (reading.takes(event)) out.push(event);
          if (reading.isOver) return;
        }
      } finally {
        await leave();
      }
    },
    () => leave(),
  );
}

/** @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT`, `UNIMPLEMENTED / E_UNSUPPORTED` */
export async function newestOf(
  limit: number,
  ask: () => ReturnType<Page>,
): Promise<{ events: AgentEvent[]; more: boolean }> {
  checkIs(limit, 'newest: limit', count);
  const { events, more, newest } = (await ask()) as Awaited<ReturnType<Page>> & { newest?: boolean };
  // Whoever does not know the word gives the first ones.
  if (newest === true || !more) return { events, more };
  throw new CoxswainError('UNIMPLEMENTED', 'E_UNSUPPORTED', 'this server gives events from the first one on alone');
}
