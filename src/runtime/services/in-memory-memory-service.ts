import type { MemoryEntry } from '../../contracts/index.ts';
import type { StoredEvent } from '../log/index.ts';
import type { SessionKey } from '../store/index.ts';
import { checkKey, checkScope, storeInput, wholeNumber } from '../store/index.ts';
import type { MemoryService } from './memory-service.ts';
import { DEFAULT_MEMORY_LIMIT, memoryEntries } from './memory-service.ts';
import type { Searchable } from './words.ts';
import { hits, queryWords, searchable } from './words.ts';

interface Remembered {
  entry: MemoryEntry;
  text: Searchable;
}

/** Memory that lives as long as the process. */
export class InMemoryMemoryService implements MemoryService {
  /** (app, user) → session id → entries. */
  readonly #sessions = new Map<string, Map<string, Remembered[]>>();

  async addSession(key: SessionKey, events: readonly StoredEvent[]): Promise<void> {
    checkKey(key);
    const scope = `${key.app}/${key.userId}`;
    const sessions = this.#sessions.get(scope) ?? new Map<string, Remembered[]>();
    this.#sessions.set(scope, sessions);
    // A session that is added again comes last among equals.
    sessions.delete(key.id);
    sessions.set(
      key.id,
      memoryEntries(events).map((entry) => ({ entry, text: searchable(entry.content) })),
    );
  }

  async erase({ app, userId, id }: { app: string; userId: string; id?: string }): Promise<void> {
    if (id === undefined) checkScope({ app, userId });
    else checkKey({ app, userId, id });
    if (id === undefined) this.#sessions.delete(`${app}/${userId}`);
    else this.#sessions.get(`${app}/${userId}`)?.delete(id);
  }

  async search(
    scope: { app: string; userId: string },
    query: string,
    options: { limit?: number } = {},
  ): Promise<MemoryEntry[]> {
    checkScope(scope);
    storeInput.search(options);
    const limit = wholeNumber('limit', options.limit) ?? DEFAULT_MEMORY_LIMIT;
    const words = queryWords(query);
    if (words.size === 0) return [];
    const all = [...(this.#sessions.get(`${scope.app}/${scope.userId}`)?.values() ?? [])].flat();
    return rank(all, words, limit);
  }
}

/** Most words first, then newest. */
export function rank(all: readonly Remembered[], words: ReadonlySet<string>, limit: number): MemoryEntry[] {
  return all
    .map(({ entry, text }) => ({ entry, count: hits(words, text) }))
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count || b.entry.timestamp.localeCompare(a.entry.timestamp))
    .slice(0, limit)
    .map(({ entry }) => ({ ...entry }));
}
