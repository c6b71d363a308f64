/** Session stores in SQL databases. */

export { nodeSqlite } from './node-sqlite.ts';
export { migrateSql, openSql } from './open.ts';
export type { SqlOptions } from './options.ts';
export type { SqlServiceOptions } from './services/index.ts';
export { SqlArtifactService, SqlMemoryService, SqlSessionService } from './services/index.ts';
export type { Migrated } from './statements/index.ts';
