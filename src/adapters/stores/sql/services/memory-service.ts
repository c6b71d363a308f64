import type { MemoryEntry } from '../../../../contracts/index.ts';
import { messageOf } from '../../../../contracts/index.ts';
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
import type { Row, SqlEngine, Steps, Value } from '../statements/index.ts';
import { all, OF_SESSION, one, runStatement, textOfColumn, uniqueNow, values, writeText } from '../statements/index.ts';
import type { EmbeddingOptions, Placed } from './embeddings.ts';
import { bytesOfVector, Embeddings, merged, vectorOf } from './embeddings.ts';

const COLUMNS = 'app_name, user_id, session_id, ordinal, author, content, timestamp, words, inserted_at';
const VECTOR_COLUMNS = 'app_name, user_id, session_id, ordinal, embedded_by, embedding, inserted_at';
const TABLES = ['adk_memories', 'adk_memory_vectors'];
/** Characters that one INSERT of several rows has at most. */
const MAX_INSERT = 500_000;

/** Memory in the tables of a session store. Each entry stands beside its folded words, with a space around each. */
export class SqlMemoryService implements MemoryService {
  readonly #ready: () => SqlEngine;
  readonly #embeddings: Embeddings | undefined;

  /** `ready` gives the engine, or throws if it is closed. */
  constructor(ready: () => SqlEngine, embeddings?: EmbeddingOptions) {
    this.#ready = ready;
    this.#embeddings = embeddings && new Embeddings(embeddings);
  }

  /**
   * The same memory, searched by meaning as well: sessions that are added to it have vectors beside their words. A search ranks entries by
   * words and by cosine, and merges both rankings.
   * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT`
   * @example
   * ```ts
   * import { openSqlite } from 'coxswain/stores/sqlite';
   *
   * const store = openSqlite('shop.db');
   * const embed = async (texts: readonly string[]) => texts.map((text) => [text.length, 1]);
   * const memory = store.memory.withEmbeddings({ name: 'length-1', embed });
   * ```
   */
  withEmbeddings(options: EmbeddingOptions): SqlMemoryService {
    return new SqlMemoryService(this.#ready, options);
  }

  async addSession(key: SessionKey, events: readonly StoredEvent[]): Promise<void> {
    const engine = this.#ready();
    checkKey(key);
    const entries = memoryEntries(events);
    const vectors = await this.#vectorsOf(
      key,
      entries.map(({ content }) => content),
    );
    const time = uniqueNow();
    const rows = entries.map(({ content, author, timestamp }, ordinal): Value[] => [
      ...values(key),
      ordinal,
      writeText(author),
      writeText(content),
      timestamp,
      ` ${[...wordsOf(content)].join(' ')} `,
      time,
    ]);
    const name = this.#embeddings?.name ?? '';
    const vectorRows = vectors.map((vector, ordinal): Value[] => [
      ...values(key),
      ordinal,
      writeText(name),
      bytesOfVector(vector),
      time,
    ]);
    const { rowsPerInsert } = engine.dialect;
    await engine.transaction('write', function* () {
      for (const table of TABLES) yield* runStatement(`DELETE FROM ${table} ${OF_SESSION}`, values(key));
      yield* insertAll('adk_memories', COLUMNS, rows, rowsPerInsert);
      yield* insertAll('adk_memory_vectors', VECTOR_COLUMNS, vectorRows, rowsPerInsert);
    });
  }

  /** Of each text, by what is known of the session already; none without a function for it. */
  async #vectorsOf(key: SessionKey, texts: readonly string[]): Promise<Float32Array[]> {
    const embeddings = this.#embeddings;
    if (!embeddings) return [];
    const sql = `SELECT m.content AS content, v.embedding AS embedding FROM adk_memory_vectors v
      JOIN adk_memories m ON m.app_name = v.app_name AND m.user_id = v.user_id
        AND m.session_id = v.session_id AND m.ordinal = v.ordinal
      WHERE v.app_name = ? AND v.user_id = ? AND v.session_id = ? AND v.embedded_by = ?`;
    const given = [...values(key), writeText(embeddings.name)];
    const rows = await this.#ready().transaction('read', () => all(sql, given));
    const known = new Map(
      rows.map(({ content, embedding }) => [textOfColumn(String(content)), vectorOf(embedding as Uint8Array)]),
    );
    const lacking = [...new Set(texts)].filter((text) => !known.has(text));
    const made = await embeddings.of(lacking);
    for (const [at, text] of lacking.entries()) known.set(text, made[at] ?? new Float32Array());
    return texts.map((text) => known.get(text) ?? new Float32Array());
  }

  async erase({ app, userId, id }: { app: string; userId: string; id?: string }): Promise<void> {
    const engine = this.#ready();
    if (id === undefined) checkScope({ app, userId });
    else checkKey({ app, userId, id });
    const which = `WHERE app_name = ? AND user_id = ?${id === undefined ? '' : ' AND session_id = ?'}`;
    const given = id === undefined ? [app, userId] : [app, userId, id];
    await engine.transaction('write', function* () {
      for (const table of TABLES) yield* runStatement(`DELETE FROM ${table} ${which}`, given);
    });
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
    const embeddings = this.#embeddings;
    if (!embeddings) return (await this.#byWords(engine, scope, words, limit)).map(({ entry }) => entry);
    const pool = Math.max(limit, POOL);
    const found = await this.#byWords(engine, scope, words, pool);
    const near = query.trim() === '' ? [] : await this.#byMeaning(embeddings, scope, query, pool);
    const known = new Map(found.map(({ at, entry }) => [placeOf(at), entry]));
    const best = merged([found.map(({ at }) => at), near]).slice(0, limit);
    const entries = await engine.transaction('read', function* () {
      const all: MemoryEntry[] = [];
      for (const at of best) {
        const entry = known.get(placeOf(at)) ?? (yield* entryAt(scope, at));
        // It may be gone meanwhile.
        if (entry) all.push(entry);
      }
      return all;
    });
    return entries;
  }

  async #byWords(
    engine: SqlEngine,
    { app, userId }: Scope,
    words: readonly string[],
    limit: number,
  ): Promise<{ at: Placed; entry: MemoryEntry }[]> {
    if (words.length === 0) return [];
    const hit = `CASE WHEN ${engine.dialect.contains('words')} THEN 1 ELSE 0 END`;
    const sql = `SELECT session_id, ordinal, author, content, timestamp FROM (
        SELECT session_id, author, content, timestamp, inserted_at, ordinal, ${sum(words.length, hit)} AS hits
        FROM adk_memories WHERE app_name = ? AND user_id = ?
      ) found WHERE hits > 0
      ORDER BY hits DESC, timestamp DESC, inserted_at, ordinal LIMIT ${limit}`;
    const given = [...words.map((word) => (isPiece(word) ? word : ` ${word} `)), app, userId];
    const rows = await engine.transaction('read', () => all(sql, given));
    return rows.map((row) => ({ at: placed(row), entry: entryOf(row) }));
  }

  /** The words alone where there is no vector of the query: a search is worth more than none. */
  async #byMeaning(embeddings: Embeddings, { app, userId }: Scope, query: string, limit: number): Promise<Placed[]> {
    let vector: Float32Array | undefined;
    try {
      [vector] = await embeddings.of([query]);
    } catch (error) {
      embeddings.warn(`memory is searched by words alone: ${messageOf(error)}`, error);
    }
    if (!vector) return [];
    const sql = `SELECT session_id, ordinal, embedding FROM adk_memory_vectors
      WHERE app_name = ? AND user_id = ? AND embedded_by = ? ORDER BY inserted_at DESC, session_id, ordinal DESC`;
    const given = [app, userId, writeText(embeddings.name)];
    const page = async (from: number, count: number) => {
      const which = `${sql} LIMIT ${count} OFFSET ${from}`;
      const rows = await this.#ready().transaction('read', () => all(which, given));
      return rows.map((row) => ({ ...placed(row), vector: vectorOf(row.embedding as Uint8Array) }));
    };
    return embeddings.nearest(vector, page, limit);
  }
}

type Scope = Pick<SessionKey, 'app' | 'userId'>;

/** Entries that each ranking gives to the merged one, at least. */
const POOL = 100;

const placed = (row: Row): Placed => ({ session: String(row.session_id), ordinal: Number(row.ordinal) });
const placeOf = ({ session, ordinal }: Placed): string => JSON.stringify([session, ordinal]);

function entryOf({ author, content, timestamp }: Row): MemoryEntry {
  return {
    content: textOfColumn(String(content)),
    author: textOfColumn(String(author)),
    timestamp: String(timestamp),
  };
}

function* entryAt({ app, userId }: Scope, { session, ordinal }: Placed): Steps<MemoryEntry | undefined> {
  const sql = `SELECT author, content, timestamp FROM adk_memories ${OF_SESSION} AND ordinal = ?`;
  const row = yield* one(sql, [app, userId, session, ordinal]);
  return row && entryOf(row);
}

/** Several rows at a time. */
function* insertAll(table: string, columns: string, rows: readonly Value[][], rowsPerInsert: number): Steps<void> {
  const place = `(${columns.replace(/\w+/g, '?')})`;
  for (let at = 0; at < rows.length; ) {
    const some: Value[][] = [];
    for (let length = 0; some.length < rowsPerInsert && at < rows.length && length < MAX_INSERT; at++) {
      const row = rows[at] ?? [];
      for (const value of row) {
        if (typeof value === 'string' || value instanceof Uint8Array) length += value.length;
      }
      some.push(row);
    }
    const places = some.map(() => place).join(', ');
    yield* runStatement(`INSERT INTO ${table} (${columns}) VALUES ${places}`, some.flat());
  }
}

/** `term + term + …` as a tree: databases limit how deep an expression is. */
function sum(count: number, term: string): string {
  if (count === 1) return term;
  const half = count >> 1;
  return `(${sum(half, term)} + ${sum(count - half, term)})`;
}
