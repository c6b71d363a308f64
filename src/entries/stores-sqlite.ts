/**
 * Sessions in a SQLite file, by the SQLite of Node.
 * Stability: stable.
 *
 * @packageDocumentation
 */
export { openSqlite, SqliteSessionService } from '../adapters/stores/sqlite.ts';
