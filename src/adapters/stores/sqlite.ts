import type { Engine } from './sql/engine.ts';
import type { SqlServiceOptions } from './sql/session-service.ts';
import { SqlSessionService } from './sql/session-service.ts';
import { sqlite } from './sql/sqlite.ts';
import type { Answer, Query, Steps, TransactionKind } from './sql/steps.ts';
import { runNow } from './sql/steps.ts';
import type { Connection, ConnectionOptions } from './sqlite-connection.ts';
import { openConnection } from './sqlite-connection.ts';

export { migrateDown, migrateUp, SCHEMA_VERSION } from './sqlite-schema.ts';

export interface SqliteOptions extends ConnectionOptions, SqlServiceOptions {}

/**
 * A session store in one SQLite file, for any number of processes of one machine; `:memory:` is private to this
 * service. The tables are made or brought up to date.
 * @throws CoxswainError `FAILED_PRECONDITION / E_STORE` (no such folder, not a database, a newer schema),
 *   `UNAVAILABLE / E_STORE` (locked)
 */
export function openSqlite(path: string, options: SqliteOptions = {}): SqliteSessionService {
  return new SqliteSessionService(path, options);
}

/** The embedded store: on Node's own SQLite, without any package. The file is closed with its last service. */
export class SqliteSessionService extends SqlSessionService {
  constructor(path: string, options: SqliteOptions = {}) {
    super(new SqliteEngine(openConnection(path, options)), options);
  }
}

/** Runs steps at once, on this thread: a transaction is over before anything else happens. */
class SqliteEngine implements Engine {
  readonly dialect = sqlite;
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  get store(): string {
    return this.#connection.path;
  }

  transaction<T>(kind: TransactionKind, steps: () => Steps<T>): T {
    return this.#connection.transaction(kind === 'single' ? 'read' : kind, () => runNow(steps(), this.#execute));
  }

  close(): void {
    this.#connection.close();
  }

  readonly #execute = ({ sql, values, rows }: Query): Answer => {
    const given = values as (string | number | null)[];
    if (rows) return { rows: this.#connection.all(sql, ...given), changes: 0 };
    return { rows: [], changes: this.#connection.run(sql, ...given) };
  };
}
