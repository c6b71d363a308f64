import { isTimed } from './timer.ts';

/**
 * Waits for work that may not watch its signal: an abort ends the wait, not the work, whose later failure is nobody's
 * surprise. Rejects with the signal's reason.
 */
export async function untilAborted<T>(work: T | PromiseLike<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work;
  let stop = () => {};
  try {
    return await new Promise<T>((resolve, reject) => {
      Promise.resolve(work).then(resolve, reject);
      stop = () => reject(signal.reason);
      if (signal.aborted) stop();
      else signal.addEventListener('abort', stop, { once: true });
    });
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** The same, with an end: rejects after so many milliseconds too; 0: no limit. What is no promise is not waited for. */
export function untilLate<T>(
  work: T | PromiseLike<T>,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): T | Promise<T> {
  if (typeof (work as { then?: unknown } | null | undefined)?.then !== 'function') return work as T;
  if (!isTimed(timeoutMs)) return untilAborted(work, signal);
  const late = new AbortController();
  const fault = new Error(`there was no answer within ${timeoutMs} ms`);
  const timer = setTimeout(() => late.abort(fault), timeoutMs);
  const either = signal ? AbortSignal.any([signal, late.signal]) : late.signal;
  return untilAborted(work, either).finally(() => clearTimeout(timer));
}
