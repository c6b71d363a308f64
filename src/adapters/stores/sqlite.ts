/** Sessions in a SQLite file: the entry `adapters/stores/sqlite`. */
export type { SqliteOptions } from './sql/open-sqlite.ts';
export {
  migrateDown,
  migrateFile,
  migrateUp,
  openSqlite,
  SCHEMA_VERSION,
  SqliteSessionService,
} from './sql/open-sqlite.ts';
