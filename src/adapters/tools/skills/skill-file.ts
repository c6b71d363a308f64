import { constants } from 'node:fs';
import { open, readdir, realpath } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { CoxswainError } from '../../../contracts/index.ts';

/** Files of a skill that are named to a model, and folders below one another that are looked into. */
const MOST_FILES = 200;
const MOST_DEPTH = 4;

/** A folder out of which nothing is read: what a path means is looked up in the file system before it is believed. */
export class SkillFolder {
  /** Without symbolic links. */
  readonly #root: string;

  private constructor(root: string) {
    this.#root = root;
  }

  static async at(path: string): Promise<SkillFolder> {
    return new SkillFolder(await realpath(path));
  }

  /**
   * The text of a file, of `most` bytes at most; undefined where there is none, or it lies elsewhere.
   * @throws CoxswainError `FAILED_PRECONDITION / E_TOOL` above that, and for a file that is no text
   */
  async text(path: string, most: number): Promise<string | undefined> {
    const place = await this.#placeOf(path);
    if (place === undefined) return undefined;
    // What was looked up is opened, and no link that has come into its place.
    await using file = await open(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const found = await file.stat();
    if (!found.isFile()) return undefined;
    if (found.size > most) throw tooLarge(path, found.size, most);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(most + 1), 0, most + 1, 0);
    if (bytesRead > most) throw tooLarge(path, bytesRead, most);
    const bytes = buffer.subarray(0, bytesRead);
    if (bytes.includes(0)) {
      throw new CoxswainError('FAILED_PRECONDITION', 'E_TOOL', `file ${JSON.stringify(path)} is no text`);
    }
    return new TextDecoder().decode(bytes);
  }

  /** Paths of its files, with `/` between folders, in order; of very many the first. Links are left out. */
  async files(): Promise<string[]> {
    const found: string[] = [];
    await this.#collect('', 0, found);
    return found;
  }

  async #collect(folder: string, depth: number, found: string[]): Promise<void> {
    const entries = await readdir(join(this.#root, folder), { withFileTypes: true });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (found.length >= MOST_FILES) return;
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isFile()) found.push(path);
      else if (entry.isDirectory() && depth < MOST_DEPTH) await this.#collect(path, depth + 1, found);
    }
  }

  /** Undefined: nothing is there, or it is not within. */
  async #placeOf(path: string): Promise<string | undefined> {
    if (path === '' || path.includes('\0') || isAbsolute(path) || !isWithin(this.#root, resolve(this.#root, path))) {
      return undefined;
    }
    try {
      const place = await realpath(resolve(this.#root, path));
      return isWithin(this.#root, place) ? place : undefined;
    } catch {
      return undefined;
    }
  }
}

function isWithin(root: string, place: string): boolean {
  const way = relative(root, place);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

function tooLarge(path: string, size: number, most: number): CoxswainError {
  const message = `file ${JSON.stringify(path)} has ${size} bytes; ${most} are read at most`;
  return new CoxswainError('FAILED_PRECONDITION', 'E_TOOL', message);
}
