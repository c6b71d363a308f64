import type { ArtifactAccess, MemoryEntry } from '../contracts/index.ts';
import { CoxswainError } from '../contracts/index.ts';

/** Services of one (app, user, session) that contexts reach. */
export interface ContextServices {
  /** Empty without a memory service. */
  searchMemory(query: string): Promise<MemoryEntry[]>;
  /** `delta` collects file name → version of what is saved. */
  artifacts(delta: Record<string, number>): ArtifactAccess;
}

/** No memory, no artifacts. */
export const noServices: ContextServices = {
  searchMemory: async () => [],
  artifacts: () => ({
    save: () => Promise.reject(noArtifacts()),
    load: () => Promise.reject(noArtifacts()),
    list: () => Promise.reject(noArtifacts()),
  }),
};

function noArtifacts(): CoxswainError {
  return new CoxswainError('FAILED_PRECONDITION', 'E_UNSUPPORTED', 'there is no artifact service; give the runner one');
}
