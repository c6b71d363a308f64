import { setTimeout as sleep } from 'node:timers/promises';
import type { CompiledQuery, DatabaseConnection, Kysely } from 'kysely';
import type {
  HeldConnection,
  Migrated,
  Query,
  SqlDialect,
  SqlEngine,
  StatementResult,
  Steps,
  TransactionKind,
} from '../statements/index.ts';
import { migrate, refuseNewer, refuseOlder, refuseSettings, runEach } from '../statements/index.ts';

/** Statements that are kept in Kysely's form. */
const KEPT = 500;
/** How often a transaction is tried that others were in the way of. */
const TRIES = 12;
/** The same for one whose connection was lost before its end. */
const LOST_TRIES = 3;

export interface KyselyEngineOptions {
  dialect: SqlDialect;
  /** For messages; without secrets. */
  store: string;
  /** `CompiledQuery.raw` of the Kysely in use. */
  raw: (sql: string, parameters?: unknown[]) => CompiledQuery;
  /** Whoever opened the database closes it. */
  owned: boolean;
  /** Whose connections hold locks. Default: the same. */
  locks?: Kysely<unknown>;
  locksOwned?: boolean;
}

/** Runs steps on the connections of a Kysely: its pool and driver, without its plugins. */
export class KyselyEngine implements SqlEngine {
  readonly dialect: SqlDialect;
  readonly store: string;
  readonly #database: Kysely<unknown>;
  readonly #options: KyselyEngineOptions;
  readonly #queries = new Map<string, CompiledQuery>();
  ended = 0;

  constructor(database: Kysely<unknown>, options: KyselyEngineOptions) {
    this.#database = database;
    this.#options = options;
    this.dialect = options.dialect;
    this.store = options.store;
  }

  async transaction<T>(kind: TransactionKind, steps: () => Steps<T>): Promise<T> {
    const begin = this.#begin(kind);
    for (let tries = 1; ; tries++) {
      const progress = { committing: false };
      try {
        const result = await this.#database.getExecutor().provideConnection((connection) => {
          const execute = (query: Query) => this.#execute(connection, query);
          if (begin === undefined) return runEach(steps(), execute);
          return this.#atomic(connection, begin, steps, execute, progress);
        });
        this.ended++;
        return result;
      } catch (error) {
        const again = this.dialect.isCollision(error)
          ? tries < TRIES
          : // A pool may hand out what a restart of the server has cut; what was to be committed then is not known.
            this.dialect.isLost(error) && !progress.committing && tries < LOST_TRIES;
        if (!again) throw this.dialect.error(error, this.store);
        await sleep(Math.random() * Math.min(200, 2 ** tries));
      }
    }
  }

  async hold(): Promise<HeldConnection> {
    const { promise: held, resolve, reject } = Promise.withResolvers<DatabaseConnection>();
    const { promise: done, resolve: release } = Promise.withResolvers<void>();
    const database = this.#options.locks ?? this.#database;
    const ended = database.getExecutor().provideConnection((connection) => {
      resolve(connection);
      return done;
    });
    ended.catch(reject);
    const connection = await held;
    // A connection answers one question at a time.
    let last: Promise<unknown> = Promise.resolve();
    return {
      ask: (query) => {
        const answer = last.then(() => this.#execute(connection, query));
        last = answer.catch(() => {});
        return answer;
      },
      release: () => {
        release();
        return ended;
      },
    };
  }

  /** @throws CoxswainError `FAILED_PRECONDITION / E_STORE` if connections are set to spoil what is written */
  async checkSettings(): Promise<void> {
    const { fault } = this.dialect;
    const found = fault && (await this.transaction('single', fault));
    if (found !== undefined) throw refuseSettings(this.store, found);
  }

  /** @throws CoxswainError `FAILED_PRECONDITION / E_STORE` if the tables are not of this release */
  async check(): Promise<void> {
    const { schema } = this.dialect;
    const version = await this.transaction('single', () => schema.version());
    refuseNewer(version, schema.steps.length);
    if (version < schema.steps.length) refuseOlder(version, schema.steps.length);
  }

  /** Brings the tables up to date, or back to `target`. */
  async migrate(target?: number): Promise<Migrated> {
    const { lock, steps: all, version } = this.dialect.schema;
    // Mostly there is nothing to do, and then no lock is needed and no right to make tables.
    const from = await this.transaction('single', () => version());
    if (target === undefined && from === all.length) return { from, to: from };
    return this.#database
      .getExecutor()
      .provideConnection(async (connection) => {
        const execute = (query: Query) => this.#execute(connection, query);
        if (lock) await execute({ sql: lock.take, values: [], rows: true });
        try {
          const steps = () => migrate(this.dialect, target === undefined ? {} : { target });
          return await this.#atomic(connection, this.dialect.begin.write, steps, execute);
        } finally {
          if (lock) await execute({ sql: lock.free, values: [], rows: true }).catch(() => {});
        }
      })
      .catch((error) => {
        throw this.dialect.error(error, this.store);
      });
  }

  async close(): Promise<void> {
    const { owned, locks, locksOwned } = this.#options;
    if (locksOwned) await locks?.destroy();
    if (owned) await this.#database.destroy();
  }

  #begin(kind: TransactionKind): string | undefined {
    const { read, write } = this.dialect.begin;
    if (kind === 'read') return read;
    // A lease is one statement where the database has locks of its own.
    if (kind === 'single' || (kind === 'lease' && this.dialect.locks)) return undefined;
    return write;
  }

  async #atomic<T>(
    connection: DatabaseConnection,
    begin: string,
    steps: () => Steps<T>,
    execute: (query: Query) => Promise<StatementResult>,
    progress = { committing: false },
  ): Promise<T> {
    const { raw } = this.#options;
    await connection.executeQuery(raw(begin));
    try {
      const result = await runEach(steps(), execute);
      progress.committing = true;
      await connection.executeQuery(raw('COMMIT'));
      return result;
    } catch (error) {
      try {
        await connection.executeQuery(raw('ROLLBACK'));
      } catch {
        // Undone already, by the database or with the connection: the first error is the one to know.
      }
      throw error;
    }
  }

  async #execute(connection: DatabaseConnection, { sql, values }: Query): Promise<StatementResult> {
    let query = this.#queries.get(sql);
    if (!query) {
      query = this.#options.raw(this.dialect.text(sql));
      if (this.#queries.size === KEPT) this.#queries.clear();
      this.#queries.set(sql, query);
    }
    const { rows, numAffectedRows, insertId } = await connection.executeQuery({ ...query, parameters: values });
    return { rows: rows as StatementResult['rows'], changes: Number(numAffectedRows ?? 0), insertId };
  }
}
