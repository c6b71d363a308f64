import type { MemoryEntry } from '../../../../contracts/index.ts';
import type { MemoryService, SessionKey, StoredEvent } from '../../../../runtime/index.ts';
import {
  checkKey,
  checkScope,
  DEFAULT_MEMORY_LIMIT,
  isPiece,
  memoryEntries,
  queryWords,
  storeInput,
  wholeNumber,
  wordsOf,
} from '../../../../runtime/index.ts';
import type { SqlEngine, Value } from '../statements/index.ts';
import { all, OF_SESSION, runStatement, textOfColumn, uniqueNow, values, writeText } from '../statements/index.ts';

const COLUMNS = 'app_name, user_id, session_id, ordinal, author, content, timestamp, words, inserted_at';
const ROW = `(${COLUMNS.replace(/\w+/g, '?')})`;
/** Characters that one INSERT of several rows has at most. */
const MAX_INSERT = 500_000;

/** Memory in the tables of a session store. Each entry stands beside its folded words, with a space around each. */
export class SqlMemoryService implements MemoryService {
  readonly #ready: () => SqlEngine;

  /** `ready` gives the engine, or throws if it is closed. */
  constructor(ready: () => SqlEngine) {
    this.#ready = ready;
  }

  async addSession(key: SessionKey, events: readonly StoredEvent[]): Promise<void> {
    const engine = this.#ready();
    checkKey(key);
    const time = uniqueNow();
    const rows = memoryEntries(events).map(({ content, author, timestamp }, ordinal): Value[] => [
      ...values(key),
      ordinal,
      writeText(author),
      writeText(content),
      timestamp,
      ` ${[...wordsOf(content)].join(' ')} `,
      time,
    ]);
    const { rowsPerInsert } = engine.dialect;
    await engine.transaction('write', function* () {
      yield* runStatement(`DELETE FROM adk_memories ${OF_SESSION}`, values(key));
      for (let at = 0; at < rows.length; ) {
        const some: Value[][] = [];
        for (let length = 0; some.length < rowsPerInsert && at < rows.length && length < MAX_INSERT; at++) {
          const row = rows[at] ?? [];
          for (const value of row) if (typeof value === 'string') length += value.length;
          some.push(row);
        }
        const places = some.map(() => ROW).join(', ');
        yield* runStatement(`INSERT INTO adk_memories (${COLUMNS}) VALUES ${places}`, some.flat());
      }
    });
  }

  async erase({ app, userId, id }: { app: string; userId: string; id?: string }): Promise<void> {
    const engine = this.#ready();
    if (id === undefined) checkScope({ app, userId });
    else checkKey({ app, userId, id });
    const sql = `DELETE FROM adk_memories WHERE app_name = ? AND user_id = ?${id === undefined ? '' : ' AND session_id = ?'}`;
    await engine.transaction('write', () => runStatement(sql, id === undefined ? [app, userId] : [app, userId, id]));
  }

  async search(
    scope: { app: string; userId: string },
    query: string,
    options: { limit?: number } = {},
  ): Promise<MemoryEntry[]> {
    const engine = this.#ready();
    checkScope(scope);
    storeInput.search(options);
    const limit = wholeNumber('limit', options.limit) ?? DEFAULT_MEMORY_LIMIT;
    const words = [...queryWords(query)];
    if (words.length === 0) return [];
    const hit = `CASE WHEN ${engine.dialect.contains('words')} THEN 1 ELSE 0 END`;
    const sql = `SELECT author, content, timestamp FROM (
        SELECT author, content, timestamp, inserted_at, ordinal, ${sum(words.length, hit)} AS hits
        FROM adk_memories WHERE app_name = ? AND user_id = ?
      ) found WHERE hits > 0
      ORDER BY hits DESC, timestamp DESC, inserted_at, ordinal LIMIT ${limit}`;
    const given = [...words.map((word) => (isPiece(word) ? word : ` ${word} `)), scope.app, scope.userId];
    const rows = await engine.transaction('read', () => all(sql, given));
    return rows.map(({ author, content, timestamp }) => ({
      content: textOfColumn(String(content)),
      author: textOfColumn(String(author)),
      timestamp: String(timestamp),
    }));
  }
}

/** `term + term + …` as a tree: databases limit how deep an expression is. */
function sum(count: number, term: string): string {
  if (count === 1) return term;
  const half = count >> 1;
  return `(${sum(half, term)} + ${sum(count - half, term)})`;
}
