import { randomBytes } from 'node:crypto';
import { access, constants, mkdir, open, realpath, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Place } from './confine.ts';
import { showPath } from './confine.ts';

/** Bytes. What is larger is neither read nor written. */
export const MAX_FILE_BYTES = 5 * 1024 * 1024;

export interface TextFile {
  /** Exactly as stored: line ends and a byte order mark are kept. */
  text: string;
  /** Permission bits. */
  mode: number;
}

/** Why a file is not read; a search skips such files and counts them. */
export class UnreadableFile extends Error {
  readonly why: 'folder' | 'special' | 'large' | 'binary' | 'failed';

  constructor(why: UnreadableFile['why'], message: string) {
    super(message);
    this.why = why;
  }
}

/** Windows has neither flag. */
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;
const NO_WAIT = constants.O_NONBLOCK ?? 0;

/** @throws UnreadableFile */
export async function readText(place: Place): Promise<TextFile> {
  const shown = showPath(place.path);
  // A FIFO would block an ordinary open until somebody writes to it.
  const file = await open(place.absolute, constants.O_RDONLY | NO_FOLLOW | NO_WAIT).catch((error: unknown) => {
    throw new UnreadableFile('failed', `${shown} cannot be opened (${codeOf(error)}).`);
  });
  try {
    const stat = await file.stat();
    if (stat.isDirectory()) throw new UnreadableFile('folder', `${shown} is a folder. Use list_files.`);
    if (!stat.isFile()) throw new UnreadableFile('special', `${shown} is not a regular file.`);
    if (stat.size > MAX_FILE_BYTES) throw tooLarge(shown, stat.size);
    const bytes = await file.readFile();
    if (bytes.length > MAX_FILE_BYTES) throw tooLarge(shown, bytes.length);
    return { text: decode(bytes, shown), mode: stat.mode & 0o7777 };
  } finally {
    await file.close();
  }
}

function decode(bytes: Buffer, shown: string): string {
  if (bytes.includes(0)) throw new UnreadableFile('binary', `${shown} is a binary file; only text can be shown.`);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new UnreadableFile('binary', `${shown} is not UTF-8 text.`);
  }
}

function tooLarge(shown: string, bytes: number): UnreadableFile {
  return new UnreadableFile('large', `${shown} is too large: ${bytes} bytes, at most ${MAX_FILE_BYTES} are read.`);
}

/**
 * Replaces a file as a whole or not at all: the text goes to a new file in the same folder, which then takes the
 * name. Missing parent folders are made.
 */
export async function replaceText(place: Place, text: string, options: { mode?: number; signal?: AbortSignal } = {}) {
  try {
    await replace(place, text, options);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // The texts of system errors hold absolute paths.
    if (typeof code !== 'string') throw error;
    throw new Error(`${showPath(place.path)} could not be written (${code}). It is unchanged.`);
  }
}

async function replace(place: Place, text: string, options: { mode?: number; signal?: AbortSignal }): Promise<void> {
  const folder = dirname(place.absolute);
  await mkdir(folder, { recursive: true });
  if ((await realpath(folder)) !== folder) throw new Error(`The folder of ${showPath(place.path)} has just changed.`);
  // A rename asks the folder for permission, not the file.
  if (place.exists) await access(place.absolute, constants.W_OK);
  const temporary = join(folder, `.coxswain-${randomBytes(8).toString('hex')}.tmp`);
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | NO_FOLLOW;
  const file = await open(temporary, flags, options.mode ?? 0o666);
  try {
    try {
      await file.writeFile(text, 'utf8');
      // The mode given to open() is cut by the umask.
      if (options.mode !== undefined) await file.chmod(options.mode);
      await file.sync();
    } finally {
      await file.close();
    }
    options.signal?.throwIfAborted();
    await rename(temporary, place.absolute);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** The first `max` characters or a little less: never a part of what a reader sees as one character. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text;
  const start = new Intl.Segmenter().segment(text.slice(0, max + 100)).containing(max)?.index ?? max;
  if (start > 0) return text.slice(0, start);
  return text.slice(0, max).replace(/[\uD800-\uDBFF]$/, '');
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown error';
}
