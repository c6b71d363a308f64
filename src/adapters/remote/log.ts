import type { AgentEvent } from '../../contracts/index.ts';
import type { Feed } from './feed.ts';

type Page = (after: string | undefined, limit: number) => Promise<{ events: AgentEvent[]; more: boolean }>;

const PAGE = 200;

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

/** Stored events, then those that are stored from now on; each once. */
export async function* liveEvents(
  page: Page,
  feed: Feed,
  { after, limit = Number.POSITIVE_INFINITY }: { after?: string; limit?: number },
): AsyncGenerator<AgentEvent> {
  // Before the first page: nothing falls in between.
  const live = feed.open();
  let left = limit;
  try {
    let last: AgentEvent | undefined;
    const siblings = new Set<string>();
    for await (const event of storedEvents(page, after === undefined ? { limit } : { after, limit })) {
      if (event.seq !== last?.seq) siblings.clear();
      siblings.add(event.id);
      last = event;
      yield event;
      if (--left <= 0) return;
    }
    for await (const event of live) {
      if (event.cursor === undefined || isShown(event, last, siblings)) continue;
      yield event;
      if (--left <= 0) return;
    }
  } finally {
    await live.return?.();
  }
}

function isShown(event: AgentEvent, last: AgentEvent | undefined, siblings: ReadonlySet<string>): boolean {
  if (siblings.has(event.id)) return true;
  return event.seq !== undefined && last?.seq !== undefined && event.seq < last.seq;
}
