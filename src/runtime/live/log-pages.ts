import type { SessionKey, SessionRecord, SessionService } from '../store/index.ts';

/** Events that are read at once: a few milliseconds of decoding. */
export const PAGE = 128;
/** Milliseconds that reading may hold the event loop. */
const PIECE_MS = 4;

// As it is now: whoever replaces the clock later means to hold time, not reading.
const later = setImmediate;

/**
 * Reads a log behind `after` in pages and lets others use the event loop in between. `see` gets each page; undefined:
 * the session is not there. What is appended meanwhile is read, too, up to the event `to`.
 */
export async function readInPages(
  service: SessionService,
  key: SessionKey,
  after: number,
  see: (page: SessionRecord) => void | Promise<void>,
  to = Number.POSITIVE_INFINITY,
): Promise<SessionRecord | undefined> {
  let at = after;
  let since = performance.now();
  for (;;) {
    const page = await service.get(key, { after: at, limit: Math.min(PAGE, to - at) });
    if (!page) return undefined;
    const seen = see(page);
    if (seen) await seen;
    const last = page.events.at(-1);
    if (!last || last.seq >= Math.min(to, page.lastSeq)) return page;
    at = last.seq;
    if (performance.now() - since < PIECE_MS) continue;
    await new Promise((resolve) => later(resolve));
    since = performance.now();
  }
}
