import type { SessionKey, SessionRecord, SessionService } from '../store/index.ts';

/** Events that are read at once: a few milliseconds of decoding. */
const PAGE = 128;
/** Milliseconds that reading may hold the event loop. */
const PIECE_MS = 8;

// As it is now: whoever replaces the clock later means to hold time, not reading.
const later = setImmediate;

/**
 * Reads a log behind `after` in pages and lets others use the event loop in between. `see` gets each page; undefined:
 * the session is not there. What is appended meanwhile is read, too.
 */
export async function readInPages(
  service: SessionService,
  key: SessionKey,
  after: number,
  see: (page: SessionRecord) => void,
): Promise<SessionRecord | undefined> {
  let at = after;
  let since = performance.now();
  for (;;) {
    const page = await service.get(key, { after: at, limit: PAGE });
    if (!page) return undefined;
    see(page);
    const last = page.events.at(-1);
    if (!last || last.seq >= page.lastSeq) return page;
    at = last.seq;
    if (performance.now() - since < PIECE_MS) continue;
    await new Promise((resolve) => later(resolve));
    since = performance.now();
  }
}
