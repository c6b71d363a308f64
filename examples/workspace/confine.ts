import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';

/** A place inside the workspace. Every symbolic link on the way to it has been followed. */
export interface Place {
  /** Relative to the root, with forward slashes; `.` is the root. */
  path: string;
  /** Real path: no part of it that exists is a link. */
  absolute: string;
  exists: boolean;
}

/**
 * Finds the place that a path of the model means, following links, and refuses what lies outside `root`:
 * `..`, foreign absolute paths, links that lead out, links that lead nowhere, and `.git`, whose hooks and
 * configuration run programs.
 *
 * What does not exist yet is judged by its deepest existing ancestor. A process that swaps folders for links
 * at this very moment can still win: Node has no `openat`.
 * @throws Error with a text that a model can act on; it never says whether something outside exists
 */
export async function locate(root: string, path: string): Promise<Place> {
  if (path.includes('\0')) throw new Error('The path contains a NUL character.');
  if (path.trim() === '') throw new Error('The path is empty. Use "." for the workspace folder itself.');
  const shown = showPath(path);
  if (path.split(/[\\/]/).includes('..')) {
    throw new Error(`${shown} contains "..". Give paths relative to the workspace folder.`);
  }
  const realRoot = await realpath(root).catch(() => {
    throw new Error(`The workspace folder does not exist: ${root}`);
  });
  const requested = resolve(realRoot, rebase(path, root, realRoot));
  if (!isInside(realRoot, requested)) throw outside(shown);

  const missing: string[] = [];
  let at = requested;
  let real = await realPathOf(at, shown);
  while (real === undefined && at !== realRoot) {
    missing.unshift(basename(at));
    at = dirname(at);
    real = await realPathOf(at, shown);
  }
  if (real === undefined || !isInside(realRoot, real)) throw outside(shown);
  const absolute = join(real, ...missing);
  const place = relative(realRoot, absolute).replaceAll(sep, '/');
  if (place.split('/').some((segment) => segment.toLowerCase() === '.git')) {
    throw new Error(`${shown} is inside .git, which these tools leave alone.`);
  }
  return { path: place === '' ? '.' : place, absolute, exists: missing.length === 0 };
}

/** Like {@link locate}, for what must exist. */
export async function locateExisting(root: string, path: string): Promise<Place> {
  const place = await locate(root, path);
  if (!place.exists) throw new Error(`${showPath(place.path)} does not exist. list_files shows what there is.`);
  return place;
}

/** A path as it may stand in one line of text: quoted if it holds control characters or begins with a quote. */
export function showPath(path: string): string {
  return /^"|\p{Cc}|\p{Zl}|\p{Zp}/u.test(path) ? JSON.stringify(path) : path;
}

/** Undefined if nothing is there. A link that leads nowhere is something, and is refused. */
async function realPathOf(path: string, shown: string): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ELOOP') throw new Error(`${shown} goes through symbolic links that form a loop.`);
    if (code === 'ENOTDIR') throw new Error(`${shown} treats a file as a folder.`);
    if (code === 'ENAMETOOLONG') throw new Error('The path is too long.');
    if (code !== 'ENOENT') throw new Error(`${shown} cannot be reached (${code ?? 'unknown error'}).`);
  }
  const link = await lstat(path).catch(() => undefined);
  if (link !== undefined) throw new Error(`${shown} goes through a symbolic link that leads nowhere.`);
  return undefined;
}

/** An absolute path may name the root as the user wrote it, which need not be its real path. */
function rebase(path: string, root: string, realRoot: string): string {
  if (!isAbsolute(path)) return path;
  const written = resolve(root);
  return isInside(written, resolve(path)) ? join(realRoot, relative(written, resolve(path))) : path;
}

function isInside(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

function outside(shown: string): Error {
  return new Error(`${shown} is outside the workspace folder. Only what is inside can be used.`);
}
