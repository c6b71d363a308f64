import { hash, randomUUID } from 'node:crypto';
import { createReadStream, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { CoxswainError, messageOf } from '../../contracts/index.ts';
import { checkIs, name } from '../../session/index.ts';
import type { SpoolReader } from '../records/index.ts';
import type { SpoolStore } from './spool-store.ts';

/** One file for each content, in a folder of its own; file names are digests, whatever the ids are. */
export class FileSpoolStore implements SpoolStore {
  readonly #folder: string;

  constructor(folder: string) {
    checkIs(folder, 'FileSpoolStore: folder', name);
    this.#folder = folder;
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
    } catch (cause) {
      throw new CoxswainError('FAILED_PRECONDITION', 'E_STORE', `the folder of a media store: ${messageOf(cause)}`, {
        cause,
      });
    }
  }

  write(id: string, content: string | Uint8Array): SpoolReader {
    const bytes = typeof content === 'string' ? Buffer.from(content) : content;
    const blob = `${hash('sha256', bytes)}.blob`;
    this.#replace(blob, bytes);
    this.#replace(nameOf(id), blob);
    return this.#reader(blob);
  }

  read(id: string): SpoolReader | undefined {
    const blob = this.#blobOf(id);
    return blob === undefined ? undefined : this.#reader(blob);
  }

  /** Forgets the id; content may be another id's too and stays. */
  delete(id: string): boolean {
    if (this.#blobOf(id) === undefined) return false;
    rmSync(join(this.#folder, nameOf(id)));
    return true;
  }

  #blobOf(id: string): string | undefined {
    try {
      return readFileSync(join(this.#folder, nameOf(id)), 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  #reader(blob: string): SpoolReader {
    const path = join(this.#folder, blob);
    return {
      byteLength: () => statSync(path).size,
      stream: () => Readable.toWeb(createReadStream(path)) as ReadableStream<Uint8Array>,
    };
  }

  /** Written beside and renamed: a reader sees all of it or nothing. */
  #replace(name: string, content: string | Uint8Array): void {
    const draft = join(this.#folder, `${randomUUID()}.tmp`);
    try {
      writeFileSync(draft, content, { mode: 0o600, flag: 'wx' });
      renameSync(draft, join(this.#folder, name));
    } finally {
      rmSync(draft, { force: true });
    }
  }
}

function nameOf(id: string): string {
  return `${hash('sha256', id)}.id`;
}
