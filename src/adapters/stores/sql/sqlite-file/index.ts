/** A SQLite file: connection, migrations, who holds a lease. */
export type { SqliteConnection, SqliteConnectionOptions } from './connection.ts';
export { openAlone, openConnection, patienceOf } from './connection.ts';
export { isDead, parseOwner, thisProcess } from './lease-owner.ts';
export { migrateDown, migrateUp, SCHEMA_VERSION } from './migrations.ts';
export { sqlitePath } from './path.ts';
