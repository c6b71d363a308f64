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
