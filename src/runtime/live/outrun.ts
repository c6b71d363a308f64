import { pauseAfter } from '../../base/index.ts';
import { isCoxswainError } from '../../contracts/index.ts';

/** Codes of a store where somebody else was faster. */
export const outrun: ReadonlySet<string> = new Set(['E_SESSION_CONFLICT', 'E_EVENT_EXISTS']);

/** The same of a writer that nobody else may outrun in anything but the end of a call. */
export const exists: ReadonlySet<string> = new Set(['E_EVENT_EXISTS']);

/** Somebody else has written in between as often: a store that says so each time is not right. */
export const MOST_TRIES = 1_000;

/** What is read on: a `LiveSession`, told by what it has. */
interface Readable {
  readonly fold: { readonly at: number };
  catchUp(): Promise<unknown> | undefined;
}

/** A write that failed. */
export interface Failed {
  error: unknown;
  /** Where the log stood when what was written was made. */
  at: number;
  /** How many have failed, with this one. */
  tries: number;
}

/**
 * Resolves where somebody else was faster: the log is read on, and what was to be written is to be made again.
 * @param codes by which the store says so
 * @throws what the write failed with, where nothing has changed, or for the thousandth time
 */
export async function readOn(
  session: Readable,
  { error, at, tries }: Failed,
  codes: ReadonlySet<string> = exists,
): Promise<void> {
  if (!isCoxswainError(error) || !codes.has(error.code) || tries >= MOST_TRIES) throw error;
  const pause = pauseAfter(tries);
  if (pause) await pause;
  await session.catchUp();
  if (session.fold.at === at) throw error;
}
