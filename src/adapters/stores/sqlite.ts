import type { SessionSummary } from '../../contracts/index.ts';
import type {
  AppendOptions,
  Event,
  Lease,
  OpenCall,
  SessionKey,
  SessionRecord,
  SessionService,
} from '../../runtime/index.ts';
import {
  applyDelta,
  checkKey,
  checkScope,
  eventWindow,
  newId,
  splitInitial,
  storeRefusal,
  wholeNumber,
} from '../../runtime/index.ts';
import type { Connection, ConnectionOptions, Row } from './sqlite-connection.ts';
import { openConnection } from './sqlite-connection.ts';
import { isDead, parseOwner, thisProcess } from './sqlite-owner.ts';
import { readEvents, readSession, sharedState, toRecord, toSummary } from './sqlite-rows.ts';
import { appendEvents, changeShared, forkSession, insertSession } from './sqlite-writes.ts';

export { migrateDown, migrateUp, SCHEMA_VERSION } from './sqlite-schema.ts';

export interface SqliteOptions extends ConnectionOptions {
  /**
   * Name of the machine in lease records. Default: the system's host name. A lease whose holder died under another
   * name (a container that was replaced) stays taken until a store is opened under that name.
   */
  host?: string;
}

/**
 * A session store in one SQLite file, for any number of processes of one machine; `:memory:` is private to this
 * service. The tables are made or brought up to date.
 * @throws CoxswainError `FAILED_PRECONDITION / E_STORE` (no such folder, not a database, a newer schema),
 *   `UNAVAILABLE / E_STORE` (locked)
 */
export function openSqlite(path: string, options: SqliteOptions = {}): SqliteSessionService {
  return new SqliteSessionService(path, options);
}

export class SqliteSessionService implements SessionService {
  readonly #connection: Connection;
  readonly #host: string | undefined;
  readonly #leases = new Set<Lease>();
  #closed = false;

  constructor(path: string, options: SqliteOptions = {}) {
    this.#connection = openConnection(path, options);
    this.#host = options.host;
  }

  async create(
    given: { app: string; userId: string; id?: string },
    options: { state?: Record<string, unknown>; title?: string } = {},
  ): Promise<SessionRecord> {
    const key = { app: given.app, userId: given.userId, id: given.id ?? newId() };
    const connection = this.#ready();
    checkKey(key);
    return connection.transaction('write', () => {
      // Before the state is looked at: an id that is taken is refused first, in every store.
      if (readSession(connection, key)) throw storeRefusal.exists(key);
      const delta = splitInitial(options.state);
      const state: Record<string, unknown> = {};
      applyDelta(state, delta.session);
      const title = options.title?.toWellFormed() ?? null;
      insertSession(connection, key, { initialState: state, state, title, lastSeq: 0 });
      changeShared(connection, key, delta);
      return this.#record(key, { limit: 0 });
    });
  }

  async get(
    key: SessionKey,
    options?: { after?: number; limit?: number; recent?: number },
  ): Promise<SessionRecord | undefined> {
    const connection = this.#ready();
    checkKey(key);
    // One snapshot, so that state and events are of the same moment.
    return connection.transaction('read', () => {
      const row = readSession(connection, key);
      if (!row) return undefined;
      const { from, to } = eventWindow(row.last_seq, options);
      return toRecord(row, readEvents(connection, key, from, to));
    });
  }

  async list(
    scope: { app: string; userId?: string },
    options: { limit?: number; after?: string } = {},
  ): Promise<SessionSummary[]> {
    const connection = this.#ready();
    checkScope(scope);
    const limit = wholeNumber('limit', options.limit) ?? -1;
    const { after } = options;
    const inScope = `s.app_name = ?1 AND (?2 IS NULL OR s.user_id = ?2)`;
    return connection.transaction('read', () => {
      let last: Row | undefined;
      if (after !== undefined) {
        last = connection.get(
          `SELECT inserted_at, user_id, id FROM adk_sessions s
           WHERE ${inScope} AND (s.id = ?3 OR s.user_id || '/' || s.id = ?3)
           ORDER BY inserted_at, user_id, id LIMIT 1`,
          scope.app,
          scope.userId ?? null,
          after,
        );
        if (!last) throw storeRefusal.cursor(after);
      }
      const rows = connection.all(
        `SELECT s.*, (SELECT count(*) FROM adk_open_calls c
           WHERE c.app_name = s.app_name AND c.user_id = s.user_id AND c.session_id = s.id) AS pending
         FROM adk_sessions s
         WHERE ${inScope} AND (?3 IS NULL OR (inserted_at, user_id, id) < (?3, ?4, ?5))
         ORDER BY inserted_at DESC, user_id DESC, id DESC LIMIT ?6`,
        scope.app,
        scope.userId ?? null,
        (last?.inserted_at as string) ?? null,
        (last?.user_id as string) ?? null,
        (last?.id as string) ?? null,
        limit,
      );
      return rows.map(toSummary);
    });
  }

  async delete(key: SessionKey): Promise<void> {
    const connection = this.#ready();
    checkKey(key);
    connection.transaction('write', () => {
      const values = [key.app, key.userId, key.id];
      connection.run('DELETE FROM adk_sessions WHERE app_name = ? AND user_id = ? AND id = ?', ...values);
      connection.run('DELETE FROM adk_events WHERE app_name = ? AND user_id = ? AND session_id = ?', ...values);
      connection.run('DELETE FROM adk_open_calls WHERE app_name = ? AND user_id = ? AND session_id = ?', ...values);
    });
  }

  async append(key: SessionKey, events: readonly Event[], options: AppendOptions = {}): Promise<readonly Event[]> {
    const connection = this.#ready();
    checkKey(key);
    return connection.transaction('write', () => appendEvents(connection, key, events, options));
  }

  async acquire(key: SessionKey): Promise<Lease> {
    const connection = this.#ready();
    checkKey(key);
    const owner = JSON.stringify(thisProcess(newId(), this.#host));
    const row = connection.transaction('lease', () => {
      const held = readSession(connection, key);
      if (!held) throw storeRefusal.missing(key);
      if (held.owner !== null) this.#refuseLiving(key, held.owner, held.epoch);
      connection.run(
        'UPDATE adk_sessions SET epoch = epoch + 1, owner = ? WHERE app_name = ? AND user_id = ? AND id = ?',
        owner,
        key.app,
        key.userId,
        key.id,
      );
      return held;
    });
    const lease: Lease = {
      epoch: row.epoch + 1,
      lastSeq: row.last_seq,
      shared: sharedState(row),
      release: async () => {
        if (this.#closed || !this.#leases.has(lease)) return;
        connection.transaction('lease', () => {
          // Names the lease, not the session: whoever took over since keeps it.
          connection.run(
            'UPDATE adk_sessions SET owner = NULL WHERE app_name = ? AND user_id = ? AND id = ? AND owner = ?',
            key.app,
            key.userId,
            key.id,
            owner,
          );
        });
        this.#leases.delete(lease);
      },
    };
    this.#leases.add(lease);
    return lease;
  }

  async fork(source: SessionKey, options: { id?: string; through?: number } = {}): Promise<SessionRecord> {
    const connection = this.#ready();
    checkKey(source);
    const through = wholeNumber('through', options.through);
    const target = { app: source.app, userId: source.userId, id: options.id ?? newId() };
    checkKey(target);
    return connection.transaction('write', () => {
      forkSession(connection, source, target, through);
      return this.#record(target, {});
    });
  }

  async openCalls(scope: { app: string; userId?: string; id?: string }): Promise<OpenCall[]> {
    const connection = this.#ready();
    checkScope(scope);
    const rows = connection.transaction('read', () =>
      connection.all(
        `SELECT user_id, session_id, call_id, name, seq FROM adk_open_calls
         WHERE app_name = ?1 AND (?2 IS NULL OR user_id = ?2) AND (?3 IS NULL OR session_id = ?3)
         ORDER BY inserted_at, user_id, session_id, seq, ordinal`,
        scope.app,
        scope.userId ?? null,
        scope.id ?? null,
      ),
    );
    return rows.map((row) => ({
      key: { app: scope.app, userId: String(row.user_id), id: String(row.session_id) },
      callId: String(row.call_id),
      name: String(row.name),
      seq: Number(row.seq),
    }));
  }

  /** Gives back the leases of this service; the file is closed with its last service in this process. */
  async close(): Promise<void> {
    if (this.#closed) return;
    try {
      await Promise.all([...this.#leases].map((lease) => lease.release()));
    } finally {
      this.#closed = true;
      this.#connection.close();
    }
  }

  #ready(): Connection {
    if (this.#closed) throw storeRefusal.closed();
    return this.#connection;
  }

  /** What was just written, from within its transaction. */
  #record(key: SessionKey, options: { limit?: number }): SessionRecord {
    const row = readSession(this.#connection, key);
    if (!row) throw storeRefusal.missing(key);
    const { from, to } = eventWindow(row.last_seq, options);
    return toRecord(row, readEvents(this.#connection, key, from, to));
  }

  #refuseLiving(key: SessionKey, text: string, epoch: number): void {
    const owner = parseOwner(text);
    if (owner && isDead(owner, this.#host)) return;
    const here = thisProcess('', this.#host);
    let holder = 'an unknown process';
    if (owner) holder = owner.pid === here.pid && owner.host === here.host ? 'this process' : `process ${owner.pid}`;
    if (owner && owner.host !== here.host) {
      holder += ` of host ${owner.host} (if that is gone for good, open the store with host: '${owner.host}')`;
    }
    throw storeRefusal.busy(key, holder, { epoch, ...(owner && { host: owner.host, pid: owner.pid }) });
  }
}
