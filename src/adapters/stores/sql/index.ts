/** Session stores in SQL databases. */

export { nodeSqlite } from './node-sqlite.ts';
export { migrateSql, openSql, type SqlOptions } from './open.ts';
export { SqlArtifactService } from './services/artifact-service.ts';
export { SqlMemoryService } from './services/memory-service.ts';
export { type SqlServiceOptions, SqlSessionService } from './services/session-service.ts';
