/** Session stores in SQL databases. */
export { SqlArtifactService } from './artifact-service.ts';
export { SqlMemoryService } from './memory-service.ts';
export { nodeSqlite } from './node-sqlite.ts';
export { migrateSql, openSql, type SqlOptions } from './open.ts';
export { type SqlServiceOptions, SqlSessionService } from './session-service.ts';
