/**
 * Sessions in PostgreSQL, MySQL, MariaDB and SQLite, by `kysely`.
 * Stability: stable.
 *
 * @packageDocumentation
 */
export {
  migrateSql,
  openSql,
  SqlArtifactService,
  SqlMemoryService,
  SqlSessionService,
} from '../../adapters/stores/sql/index.ts';
