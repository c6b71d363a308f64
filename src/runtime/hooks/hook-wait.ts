import { untilAborted } from '../../base/index.ts';
import { CoxswainError, isCoxswainError, messageOf } from '../../contracts/index.ts';

/** Milliseconds that hooks around the end of a run are given once it was told to end. */
export const HOOK_GRACE_MS = 2_000;

/**
 * Asks a before_* hook: it must not be skipped by failing. An abort ends the wait for one that does not watch its
 * signal.
 */
export async function failClosed<T>(point: string, signal: AbortSignal, hook: () => T | Promise<T>): Promise<T> {
  try {
    return await untilAborted(hook(), signal);
  } catch (error) {
    if (isCoxswainError(error)) throw error;
    throw hookFailed(point, messageOf(error), error);
  }
}

export function hookFailed(point: string, why: string, cause?: unknown): CoxswainError {
  const options = cause === undefined ? {} : { cause };
  return new CoxswainError('INTERNAL', 'E_HOOK_FAILED', `a ${point} hook failed: ${why}`, options);
}

/** Waits for hooks whose word belongs to the end of a run: an abort leaves them some time, and no more. */
export function withGrace<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const aborted = () => {
      timer = setTimeout(() => {
        const message = `no answer within ${HOOK_GRACE_MS} ms of the abort`;
        reject(new CoxswainError('DEADLINE_EXCEEDED', 'E_HOOK_FAILED', message));
      }, HOOK_GRACE_MS);
    };
    if (signal.aborted) aborted();
    else signal.addEventListener('abort', aborted, { once: true });
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', aborted);
    };
    work.then(
      (value) => {
        done();
        resolve(value);
      },
      (error: unknown) => {
        done();
        reject(error);
      },
    );
  });
}
