/** Sessions, leases, memory and artifacts over SQL. */
export { SqlArtifactService } from './artifact-service.ts';
export { oneConnection } from './lock-leases.ts';
export { SqlMemoryService } from './memory-service.ts';
export type { SqlServiceOptions } from './session-service.ts';
export { SqlSessionService } from './session-service.ts';
