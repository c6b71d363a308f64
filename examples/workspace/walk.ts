import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Place } from './confine.ts';
import { showPath } from './confine.ts';

/** Entries beyond which a walk ends. */
export const MAX_VISITED = 20_000;

export interface Found extends Place {
  /** A symbolic link: listed, never followed. */
  link: boolean;
}

export interface Walk {
  /** In the order of their names, folder by folder. */
  files: Found[];
  /** The walk ended early. */
  capped: boolean;
}

const skipped = new Set(['.git', 'node_modules']);

/** Every file below a folder, or the file itself. Leaves out `.git` and `node_modules`; follows no link. */
export async function walk(start: Place, signal: AbortSignal): Promise<Walk> {
  const files: Found[] = [];
  let visited = 0;
  const below = async (folder: Place): Promise<boolean> => {
    signal.throwIfAborted();
    const entries = await readdir(folder.absolute, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
      if (folder === start) throw new Error(`${showPath(start.path)} cannot be listed (${error.code}).`);
      return [];
    });
    entries.sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const entry of entries) {
      if (++visited > MAX_VISITED) return false;
      const path = folder.path === '.' ? entry.name : `${folder.path}/${entry.name}`;
      const place: Place = { path, absolute: join(folder.absolute, entry.name), exists: true };
      if (!entry.isDirectory()) files.push({ ...place, link: entry.isSymbolicLink() });
      else if (!skipped.has(entry.name.toLowerCase()) && !(await below(place))) return false;
    }
    return true;
  };
  if (!(await lstat(start.absolute)).isDirectory()) return { files: [{ ...start, link: false }], capped: false };
  const complete = await below(start);
  return { files, capped: !complete };
}
