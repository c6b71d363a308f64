import type { Shape } from '../../../session/index.ts';
import {
  amount,
  anything,
  checkIs,
  checkOptions,
  either,
  flag,
  having,
  name,
  oneOf,
  text,
} from '../../../session/index.ts';
import type { SqlOptions } from './options.ts';
import type { SqliteOptions } from './sqlite-options.ts';

// An empty path or URL has an error of its own.
const sqlite: Shape<SqliteOptions> = { readOnly: flag, busyTimeout: amount, host: name };
const kysely = having('getExecutor');
const sql: Shape<SqlOptions & { target?: number }> = {
  host: name,
  migrate: flag,
  maxConnections: anything,
  dialect: oneOf('sqlite', 'postgres', 'mysql'),
  locks: either(text, kysely),
  target: anything,
};

/** @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` */
export function checkSqlite(path: string, options: SqliteOptions): void {
  checkIs(path, 'the path of a session store', text);
  checkOptions<SqliteOptions>(options, 'openSqlite: options', sqlite);
}

/** @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` */
export function checkSql(target: unknown, options: SqlOptions & { target?: number }): void {
  checkIs(target, 'the database of a session store', { needs: 'a URL, or a Kysely', fits: either(text, kysely).fits });
  checkOptions<SqlOptions & { target?: number }>(options, 'openSql: options', sql);
}
