import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { wholeNumber } from '../../../../runtime/index.ts';
import { checkIs, having } from '../../../../session/index.ts';
import { SCHEMA_VERSION, sqlite } from '../databases/index.ts';
import type { Migrated, Query, StatementResult } from '../statements/index.ts';
import { migrate, runNow } from '../statements/index.ts';

export { SCHEMA_VERSION } from '../databases/index.ts';
export { refuseNewer } from '../statements/index.ts';

export function schemaVersion(database: DatabaseSync): number {
  return runNow(sqlite.schema.version(), (query) => execute(database, query));
}

/**
 * Brings the tables of a session store up to this version; several processes may do so at once.
 * @throws CoxswainError `FAILED_PRECONDITION / E_STORE` for a file of a newer version
 */
export function migrateUp(database: DatabaseSync): Migrated {
  return migrateTo(database, SCHEMA_VERSION);
}

/** Takes the tables back to `target`, default 0: none is left, with all that is in them. */
export function migrateDown(database: DatabaseSync, target = 0): Migrated {
  return migrateTo(database, target);
}

function migrateTo(database: DatabaseSync, target: number): Migrated {
  checkIs(database, 'migrate: database', having('exec', 'prepare'));
  wholeNumber('target', target);
  database.exec('BEGIN IMMEDIATE');
  try {
    // Read under the lock: another process may have been faster.
    const migrated = runNow(migrate(sqlite, { target }), (query) => execute(database, query));
    database.exec('COMMIT');
    return migrated;
  } catch (error) {
    try {
      database.exec('ROLLBACK');
    } catch {
      // Rolled back already; the first error is the one to know.
    }
    throw error;
  }
}

function execute(database: DatabaseSync, { sql, values, rows }: Query): StatementResult {
  const statement = database.prepare(sql);
  const given = values as SQLInputValue[];
  return rows
    ? { rows: statement.all(...given), changes: 0 }
    : { rows: [], changes: Number(statement.run(...given).changes) };
}
