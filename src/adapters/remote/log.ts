import type { AgentEvent } from '../../contracts/index.ts';
import { StreamQueue } from '../../session/index.ts';
import type { Feed } from './feed.ts';

type Page = (after: string | undefined, limit: number) => Promise<{ events: AgentEvent[]; more: boolean }>;

const PAGE = 200;

const NONE = { events: [], more: false };

/** Stored events, page by page. */
export async function* storedEvents(
  page: Page,
  { after, limit = Number.POSITIVE_INFINITY }: { after?: string; limit?: number },
): AsyncGenerator<AgentEvent> {
  let cursor = after;
  let left = limit;
  while (left > 0) {
    const { events, more } = await page(cursor, Math.min(PAGE, left));
    yield* events;
    left -= events.length;
    cursor = events.findLast((event) => event.cursor !== undefined)?.cursor ?? cursor;
    if (!more || events.length === 0) return;
  }
}

/** Stored events, then those that are stored from now on; each once. Ends with the feed. */
export function liveEvents(
  page: Page,
  feed: Feed,
  { after, limit = Number.POSITIVE_INFINITY }: { after?: string; limit?: number },
): AsyncIterableIterator<AgentEvent> {
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
      const stored = storedEvents(unlessOver, after === undefined ? { limit } : { after, limit });
      let left = limit;
      let last: AgentEvent | undefined;
      const siblings = new Set<string>();
      try {
        for await (const event of stored) {
          if (event.seq !== last?.seq) siblings.clear();
          siblings.add(event.id);
          last = event;
          out.push(event);
          if (--left <= 0) return;
          await out.room(false);
        }
        for await (const event of live) {
          if (event.cursor === undefined || isShown(event, last, siblings)) continue;
          out.push(event);
          if (--left <= 0) return;
        }
      } finally {
        await leave();
      }
    },
    () => leave(),
  );
}

function isShown(event: AgentEvent, last: AgentEvent | undefined, siblings: ReadonlySet<string>): boolean {
  if (siblings.has(event.id)) return true;
  return event.seq !== undefined && last?.seq !== undefined && event.seq < last.seq;
}
