/** Sessions in a SQLite file: the entry `adapters/stores/sqlite`. */

export {
  migrateDown,
  migrateFile,
  migrateUp,
  openSqlite,
  SCHEMA_VERSION,
  SqliteSessionService,
} from './sql/open-sqlite.ts';
export type { SqliteOptions } from './sql/sqlite-options.ts';
