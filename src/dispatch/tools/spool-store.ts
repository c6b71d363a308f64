import type { SpoolReader } from '../records/index.ts';
import { bytesInMemory } from '../records/index.ts';

/** Keeps what tools return in bulk. `write` is done when it returns. */
export interface SpoolStore {
  /** An id that is written again holds the new content; readers of the old one keep what they had. */
  write(id: string, content: string | Uint8Array): SpoolReader;
  read(id: string): SpoolReader | undefined;
  delete(id: string): boolean;
}

/** Lives as long as the process. */
export class InMemorySpoolStore implements SpoolStore {
  readonly #entries = new Map<string, SpoolReader>();

  write(id: string, content: string | Uint8Array): SpoolReader {
    const reader = bytesInMemory(content);
    this.#entries.set(id, reader);
    return reader;
  }

  read(id: string): SpoolReader | undefined {
    return this.#entries.get(id);
  }

  delete(id: string): boolean {
    return this.#entries.delete(id);
  }
}
