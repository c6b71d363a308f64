import type { DatabaseSync } from 'node:sqlite';
import { CoxswainError } from '../../contracts/index.ts';

interface Step {
  up: string;
  down: string;
}

// Names, columns and keys of the first four tables are shared with other readers; what they do not know is last in
// each. JSON is text; timestamps are ISO 8601 in UTC with microseconds and without zone.
const steps: readonly Step[] = [
  {
    up: `
      CREATE TABLE adk_sessions (
        app_name TEXT NOT NULL,
        user_id TEXT NOT NULL,
        id TEXT NOT NULL,
        state TEXT NOT NULL DEFAULT '{}',
        inserted_at TEXT NOT NULL,
        updated_at TEXT NOT NULL,
        last_seq INTEGER NOT NULL DEFAULT 0,
        epoch INTEGER NOT NULL DEFAULT 0,
        owner TEXT,
        title TEXT,
        initial_state TEXT NOT NULL DEFAULT '{}',
        PRIMARY KEY (app_name, user_id, id)
      );
      CREATE INDEX adk_sessions_app_name_inserted_at_index ON adk_sessions (app_name, inserted_at);

      CREATE TABLE adk_events (
        id TEXT NOT NULL,
        app_name TEXT NOT NULL,
        user_id TEXT NOT NULL,
        session_id TEXT NOT NULL,
        invocation_id TEXT,
        author TEXT,
        content TEXT,
        actions TEXT,
        branch TEXT,
        partial INTEGER,
        turn_complete INTEGER,
        error_code TEXT,
        error_message TEXT,
        interrupted INTEGER,
        custom_metadata TEXT,
        usage_metadata TEXT,
        citation_metadata TEXT,
        grounding_metadata TEXT,
        long_running_tool_ids TEXT DEFAULT '[]',
        timestamp TEXT,
        seq INTEGER NOT NULL,
        PRIMARY KEY (id, app_name, user_id, session_id)
      );
      CREATE INDEX adk_events_app_name_user_id_session_id_index ON adk_events (app_name, user_id, session_id);
      CREATE INDEX adk_events_invocation_id_index ON adk_events (invocation_id);
      CREATE UNIQUE INDEX adk_events_seq_index ON adk_events (app_name, user_id, session_id, seq);

      CREATE TABLE adk_app_states (
        app_name TEXT NOT NULL PRIMARY KEY,
        state TEXT NOT NULL DEFAULT '{}',
        updated_at TEXT NOT NULL,
        version INTEGER NOT NULL DEFAULT 0
      );

      CREATE TABLE adk_user_states (
        app_name TEXT NOT NULL,
        user_id TEXT NOT NULL,
        state TEXT NOT NULL DEFAULT '{}',
        updated_at TEXT NOT NULL,
        version INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (app_name, user_id)
      );

      CREATE TABLE adk_open_calls (
        app_name TEXT NOT NULL,
        user_id TEXT NOT NULL,
        session_id TEXT NOT NULL,
        call_id TEXT NOT NULL,
        name TEXT NOT NULL,
        seq INTEGER NOT NULL,
        ordinal INTEGER NOT NULL,
        inserted_at TEXT NOT NULL,
        PRIMARY KEY (app_name, user_id, session_id, call_id)
      );`,
    down: `
      DROP TABLE adk_open_calls;
      DROP TABLE adk_user_states;
      DROP TABLE adk_app_states;
      DROP TABLE adk_events;
      DROP TABLE adk_sessions;`,
  },
];

/** Kept in `PRAGMA user_version`. */
export const SCHEMA_VERSION = steps.length;

export function schemaVersion(database: DatabaseSync): number {
  return Number(database.prepare('PRAGMA user_version').get()?.user_version ?? 0);
}

/**
 * Brings the tables of a session store up to this version; several processes may do so at once.
 * @throws CoxswainError `FAILED_PRECONDITION / E_STORE` for a file of a newer version
 */
export function migrateUp(database: DatabaseSync): void {
  migrate(database, SCHEMA_VERSION);
}

/** Takes the tables back to `target`, default 0: none is left, with all that is in them. */
export function migrateDown(database: DatabaseSync, target = 0): void {
  migrate(database, target);
}

/** @throws CoxswainError `FAILED_PRECONDITION / E_STORE` */
export function refuseNewer(version: number): void {
  if (version <= SCHEMA_VERSION) return;
  throw new CoxswainError(
    'FAILED_PRECONDITION',
    'E_STORE',
    `this database has schema version ${version}, this release knows ${SCHEMA_VERSION}: ` +
      'upgrade the package, or give another file if this one belongs to another program',
    { details: { version, known: SCHEMA_VERSION } },
  );
}

function refuseStranger(database: DatabaseSync): void {
  const table = database.prepare(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'adk\\_%' ESCAPE '\\'",
  );
  const name = table.get()?.name;
  if (name === undefined) return;
  throw new CoxswainError(
    'FAILED_PRECONDITION',
    'E_STORE',
    `this database has a table ${name} of another program already: give another file`,
    { details: { table: name } },
  );
}

function migrate(database: DatabaseSync, target: number): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    // Read under the lock: another process may have been faster.
    let version = schemaVersion(database);
    refuseNewer(version);
    if (version === 0 && target > 0) refuseStranger(database);
    for (; version < target; version++) database.exec(steps[version]?.up ?? '');
    for (; version > target; version--) database.exec(steps[version - 1]?.down ?? '');
    database.exec(`PRAGMA user_version = ${version}`);
    database.exec('COMMIT');
  } catch (error) {
    try {
      database.exec('ROLLBACK');
    } catch {
      // Rolled back already; the first error is the one to know.
    }
    throw error;
  }
}
