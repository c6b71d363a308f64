/** What differs between SQLite, PostgreSQL, MySQL and MariaDB. */
export { KyselyEngine } from './kysely-engine.ts';
export { mysql } from './mysql-dialect.ts';
export { loadKysely } from './peers.ts';
export { postgres } from './postgres-dialect.ts';
export { SCHEMA_VERSION, sqlite } from './sqlite-dialect.ts';
export { isBusy, storeError } from './sqlite-errors.ts';
