import { checkIs, guarded, list } from '../../base/index.ts';
import type { MemoryEntry } from '../../contracts/index.ts';
import { textOfParts } from '../../contracts/index.ts';
import type { StoredEvent } from '../log/index.ts';
import type { SessionKey } from '../store/index.ts';
import { effectiveEvents } from '../store/index.ts';

export const DEFAULT_MEMORY_LIMIT = 20;

/** What is remembered of earlier sessions, by (app, user). Every implementation passes the same suite. */
export interface MemoryService {
  /** Takes in the words of a session; what was known of it before is replaced. */
  addSession(key: SessionKey, events: readonly StoredEvent[]): Promise<void>;
  /**
   * Entries that hold at least one word of the query: most words first, then newest. At most `limit` (default 20).
   * Words are those of any script, whatever their case and spelling (NFKC); texts without spaces are found by any piece
   * of them, and by the words in a sentence that is the query. An emoji is a word, other symbols are not: a query without
   * words finds nothing.
   */
  search(scope: { app: string; userId: string }, query: string, options?: { limit?: number }): Promise<MemoryEntry[]>;
  /** Forgets for good what is known of one session, or without `id` of all sessions of a user, those that are gone too. */
  erase?(of: { app: string; userId: string; id?: string }): Promise<void>;
  close?(): Promise<void>;
}

/**
 * The spoken text of a session: people's and agents' words, without thoughts, calls and results. What a rewind has cut
 * was not said; what one agent asks of another that it runs as a tool, no person has said.
 */
export function memoryEntries(events: readonly StoredEvent[]): MemoryEntry[] {
  checkIs(events, 'addSession: events', list);
  return guarded('addSession: events', () => entriesOf(events));
}

function entriesOf(events: readonly StoredEvent[]): MemoryEntry[] {
  const entries: MemoryEntry[] = [];
  for (const event of effectiveEvents(events)) {
    if (event.partial || !event.content || (event.author === 'user' && event.iso !== undefined)) continue;
    const content = textOfParts(event.content.parts);
    if (content === '') continue;
    entries.push({ content, author: event.author, timestamp: new Date(event.timestamp).toISOString() });
  }
  return entries;
}
