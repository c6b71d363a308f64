import type { SQLInputValue } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { storeRefusal, wholeNumber } from '../../../runtime/index.ts';
import { isBusy, sqlite, storeError } from './databases/index.ts';
import { SqlSessionService } from './services/index.ts';
import type { SqliteConnection } from './sqlite-file/index.ts';
import { migrateDown, openAlone, openConnection, patienceOf, SCHEMA_VERSION } from './sqlite-file/index.ts';
import type { SqliteOptions } from './sqlite-options.ts';
import type {
  LongWrite,
  Migrated,
  Query,
  SqlEngine,
  StatementResult,
  Steps,
  TransactionKind,
} from './statements/index.ts';
import { runNow } from './statements/index.ts';
import { checkSqlite } from './store-shape.ts';

export { migrateDown, migrateUp, SCHEMA_VERSION } from './sqlite-file/index.ts';
export type { SqliteOptions } from './sqlite-options.ts';

/**
 * A session store in one SQLite file, for any number of processes of one machine; `:memory:` is private to this
 * service. The tables are made or brought up to date.
 * @throws CoxswainError `FAILED_PRECONDITION / E_STORE` (no such folder, not a database, a newer schema),
 *   `UNAVAILABLE / E_STORE` (locked)
 * @example
 * ```ts
 * import { openSqlite } from 'coxswain/stores/sqlite';
 *
 * const store = openSqlite('shop.db');
 * console.log(await store.list({ app: 'shop', userId: 'anna' }));
 * await store.close();
 * ```
 */
export function openSqlite(path: string, options: SqliteOptions = {}): SqliteSessionService {
  return new SqliteSessionService(path, options);
}

/**
 * Brings the tables of a file up to date, or back to `target`; 0 drops them. Nobody in this process may have it open.
 * @throws CoxswainError as {@link openSqlite}, `INVALID_ARGUMENT / E_BAD_INPUT` for a version that is not known
 */
export function migrateFile(path: string, target = SCHEMA_VERSION): Migrated {
  checkSqlite(path, {});
  wholeNumber('target', target);
  const connection = openAlone(path, { migrate: false });
  try {
    if (target > 0) connection.database.exec('PRAGMA journal_mode = WAL');
    return migrateDown(connection.database, target);
  } catch (error) {
    throw storeError(error, path);
  } finally {
    // Nobody has written much here.
    void connection.close();
  }
}

/** The embedded store: on Node's own SQLite, without any package. The file is closed with its last service. */
export class SqliteSessionService extends SqlSessionService {
  constructor(path: string, options: SqliteOptions = {}) {
    checkSqlite(path, options);
    super(new SqliteEngine(openConnection(path, options), patienceOf(options)), options);
  }
}

/** What nobody sees before a later write is on the disk with that one. */
const kinds = { single: 'read', read: 'read', write: 'write', lease: 'lease', draft: 'lease' } as const;

/**
 * Runs steps at once, on this thread: a transaction is over before anything else happens. Where another process is in
 * the way for longer than a moment it is tried again later, and the thread is free meanwhile.
 */
class SqliteEngine implements SqlEngine {
  readonly dialect = sqlite;
  readonly #connection: SqliteConnection;
  readonly #patience: number;
  #closed = false;

  constructor(connection: SqliteConnection, patience: number) {
    this.#connection = connection;
    this.#patience = patience;
  }

  get store(): string {
    return this.#connection.path;
  }

  get isPrivate(): boolean {
    return this.store === ':memory:';
  }

  transaction<T>(kind: TransactionKind, steps: () => Steps<T>): T | Promise<T> {
    try {
      return this.#now(kind, steps);
    } catch (error) {
      if (!isBusy((error as Error).cause) || this.#patience === 0) throw error;
      return this.#later(kind, steps);
    }
  }

  async #later<T>(kind: TransactionKind, steps: () => Steps<T>): Promise<T> {
    const deadline = performance.now() + this.#patience;
    for (;;) {
      // At random, so that no process waits behind the same one for ever.
      await sleep(1 + Math.random() * 20);
      if (this.#closed) throw storeRefusal.closed();
      try {
        return this.#now(kind, steps);
      } catch (error) {
        if (!isBusy((error as Error).cause) || performance.now() > deadline) throw error;
      }
    }
  }

  #now<T>(kind: TransactionKind, steps: () => Steps<T>): T {
    return this.#connection.transaction(kinds[kind], () => runNow(steps(), this.#execute));
  }

  writeMuch(): LongWrite | undefined {
    return this.#connection.writeMuch();
  }

  close(): void | Promise<void> {
    this.#closed = true;
    return this.#connection.close();
  }

  readonly #execute = ({ sql, values, rows }: Query): StatementResult => {
    const given = values as SQLInputValue[];
    if (rows) return { rows: this.#connection.all(sql, ...given), changes: 0 };
    return { rows: [], changes: this.#connection.run(sql, ...given) };
  };
}
