import type { ArtifactAccess, MemoryEntry } from '../../contracts/index.ts';

/** Services of one (app, user, session) that contexts reach. */
export interface ContextServices {
  /** Empty without a memory service. */
  searchMemory(query: string): Promise<MemoryEntry[]>;
  /** `delta` collects file name → version of what is saved. */
  artifacts(delta: Record<string, number>): ArtifactAccess;
  /** Of this (app, user). */
  readonly credentials: {
    save(key: string, credential: unknown): Promise<void>;
    load(key: string): Promise<unknown>;
    delete(key: string): Promise<void>;
  };
}
