import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { SQLInputValue, StatementSync } from 'node:sqlite';
import { DatabaseSync } from 'node:sqlite';
import { CoxswainError } from '../../../../contracts/index.ts';
import { isBusy, storeError } from '../databases/index.ts';
import type { LongWrite, Row } from '../statements/index.ts';
import { LogWriter } from './log-writer.ts';
import { migrateUp, refuseNewer, SCHEMA_VERSION, schemaVersion } from './migrations.ts';

export interface SqliteConnectionOptions {
  /** Refuse every write. Default false. */
  readOnly?: boolean;
  /** Milliseconds to wait for another process's write. Default 30000. */
  busyTimeout?: number;
}

interface OwnOptions extends SqliteConnectionOptions {
  /** False: tables are left as they are. */
  migrate?: boolean;
}

/** Milliseconds that the thread waits with a transaction; after that it is tried again from time to time. */
const MOMENT = 25;

export function patienceOf({ busyTimeout = 30_000 }: SqliteConnectionOptions): number {
  return Math.max(0, Math.trunc(busyTimeout));
}

/** Open files of this process. */
const open = new Map<string, SqliteConnection>();

/**
 * One connection per file and process, shared by all services on it and closed by the last: a second synchronous
 * connection would wait for the first on the thread that the first needs to go on.
 */
export function openConnection(path: string, options: SqliteConnectionOptions = {}): SqliteConnection {
  if (path === ':memory:') return new SqliteConnection(path, undefined, options);
  const file = realFile(path);
  const moment = Math.min(patienceOf(options), MOMENT);
  const key = options.readOnly ? `${file}\u0000ro` : file;
  if (open.get(file)?.alone) throw openElsewhere(file);
  const shared = open.get(key);
  if (shared) {
    if (shared.alone) throw openElsewhere(file);
    shared.users += 1;
    return shared;
  }
  const connection = new SqliteConnection(file, key, options);
  connection.database.exec(`PRAGMA busy_timeout = ${moment}`);
  open.set(key, connection);
  return connection;
}

/**
 * A connection for one user whose transactions span several turns of the event loop: nobody else in this process may
 * have the file open, or each would wait for the other.
 * @throws CoxswainError `FAILED_PRECONDITION / E_STORE`
 */
export function openAlone(path: string, options: OwnOptions = {}): SqliteConnection {
  const file = path === ':memory:' ? path : realFile(path);
  const key = path === ':memory:' ? undefined : file;
  if (open.has(file) || open.has(`${file}\u0000ro`)) throw openElsewhere(file);
  const connection = new SqliteConnection(file, key, options);
  connection.alone = true;
  if (key !== undefined) open.set(key, connection);
  return connection;
}

function openElsewhere(path: string): CoxswainError {
  return new CoxswainError(
    'FAILED_PRECONDITION',
    'E_STORE',
    `this process has ${path} open already: use one session service for it, or openSqlite for several`,
    { details: { path } },
  );
}

/** The same name for the same file, whatever path leads to it. */
function realFile(path: string): string {
  const refuse = (message: string) =>
    new CoxswainError('FAILED_PRECONDITION', 'E_STORE', message, { details: { path } });
  if (path === '') throw refuse('the path of a session store is empty: give a file, or :memory:');
  const absolute = resolve(path);
  if (existsSync(absolute)) return realpathSync.native(absolute);
  const folder = dirname(absolute);
  if (!existsSync(folder)) {
    throw refuse(`folder ${folder} does not exist: make it, or give another path for the session store`);
  }
  return join(realpathSync.native(folder), basename(absolute));
}

export class SqliteConnection {
  readonly path: string;
  readonly database: DatabaseSync;
  users = 1;
  alone = false;
  readonly #key: string | undefined;
  readonly #statements = new Map<string, StatementSync>();
  #level: 'FULL' | 'NORMAL' | undefined;
  #log: LogWriter | undefined;

  constructor(path: string, key: string | undefined, options: OwnOptions) {
    this.path = path;
    this.#key = key;
    let database: DatabaseSync | undefined;
    try {
      database = new DatabaseSync(path, { readOnly: options.readOnly ?? false });
      prepare(database, options);
    } catch (error) {
      try {
        database?.close();
      } catch {
        // The first error is the one to know.
      }
      throw storeError(error, path);
    }
    this.database = database;
  }

  run(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.#statement(sql).run(...values).changes);
  }

  all(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.#statement(sql).all(...values);
  }

  /**
   * All of `work` or nothing; `work` is synchronous, so a transaction never outlives this call.
   *
   * A `lease` commits with synchronous = NORMAL. The log file keeps commits in order, so a power cut can only take
   * back a lease that no later append was written under, and it ends the lease's holder too: what is lost is the
   * record of somebody who is gone. Everything else is FULL: what was acknowledged is on the disk.
   */
  transaction<T>(kind: 'read' | 'write' | 'lease', work: () => T): T {
    try {
      // Left over only if a rollback failed.
      if (this.database.isTransaction) this.#rollback();
      if (kind !== 'read') this.#synchronous(kind === 'lease' ? 'NORMAL' : 'FULL');
      this.#statement(kind === 'read' ? 'BEGIN' : 'BEGIN IMMEDIATE').run();
      const result = work();
      this.#statement('COMMIT').run();
      return result;
    } catch (error) {
      this.#rollback();
      throw storeError(error, this.path);
    }
  }

  /** For somebody who is going to write much: see {@link LogWriter}. */
  writeMuch(): LongWrite | undefined {
    if (this.path === ':memory:') return undefined;
    this.#log ??= new LogWriter({
      path: this.path,
      setCheckpoint: (pages) => {
        if (this.database.isOpen) this.database.exec(`PRAGMA wal_autocheckpoint = ${pages}`);
      },
    });
    return this.#log.use();
  }

  /** To be called once by each user. A promise where another thread has the file open a moment longer. */
  close(): void | Promise<void> {
    this.users -= 1;
    if (this.users > 0) return;
    if (this.#key !== undefined) open.delete(this.#key);
    this.#statements.clear();
    this.database.close();
    return this.#log?.left();
  }

  /** Not a kept statement: this pragma acts when it is compiled, not when it runs. */
  #synchronous(level: 'FULL' | 'NORMAL'): void {
    if (level === this.#level) return;
    this.database.exec(`PRAGMA synchronous = ${level}`);
    this.#level = level;
  }

  #rollback(): void {
    try {
      this.database.exec('ROLLBACK');
    } catch {
      // SQLite has rolled back by itself (a full disk, a trigger): the first error is the one to know.
    }
  }

  #statement(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (!statement) {
      statement = this.database.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

function prepare(database: DatabaseSync, options: OwnOptions): void {
  const patience = patienceOf(options);
  database.exec(`PRAGMA busy_timeout = ${patience}`);
  const deadline = performance.now() + patience;
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (;;) {
    try {
      bringUp(database, options);
      return;
    } catch (error) {
      // The switch to WAL wants the file for itself and does not wait for it, unlike everything else.
      if (!isBusy(error) || performance.now() > deadline) throw error;
      Atomics.wait(pause, 0, 0, 5);
    }
  }
}

function bringUp(database: DatabaseSync, options: OwnOptions): void {
  if (options.migrate === false) return;
  const version = schemaVersion(database);
  refuseNewer(version, SCHEMA_VERSION);
  if (version < SCHEMA_VERSION) {
    if (options.readOnly) {
      throw new CoxswainError(
        'FAILED_PRECONDITION',
        'E_STORE',
        `this database has schema version ${version}, not ${SCHEMA_VERSION}: open it once for writing`,
      );
    }
    // Stays with the file, so it is set once, by whoever makes the tables.
    database.exec('PRAGMA journal_mode = WAL');
    migrateUp(database);
  }
}
