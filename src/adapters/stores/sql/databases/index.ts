/** What differs between SQLite, PostgreSQL, MySQL and MariaDB. */
export { mysql, mysqlSession } from './mysql-dialect.ts';
export { postgres } from './postgres-dialect.ts';
export { SCHEMA_VERSION, sqlite } from './sqlite-dialect.ts';
export { isBusy, storeError } from './sqlite-errors.ts';
