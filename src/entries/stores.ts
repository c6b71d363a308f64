/**
 * A store by its address, its upkeep, and artifacts in files. Node only.
 * Stability: stable.
 *
 * @packageDocumentation
 */

export type { SessionMaintenance } from '../adapters/stores/common/maintenance.ts';
export {
  effectiveEvents,
  exportSession,
  hasMaintenance,
  importSession,
  rewind,
  turnStarts,
} from '../adapters/stores/common/maintenance.ts';
export { FileArtifactService } from '../adapters/stores/file-artifacts.ts';
export { openStore } from '../adapters/stores/open-store.ts';
export type { SessionRecord, Settle } from '../runtime/index.ts';
export { settling } from '../runtime/index.ts';
