/**
 * Waits for `work`, but no longer than until the signal fires: then rejects with its reason. What `work` comes to
 * afterwards is dropped, never an unhandled rejection. The listener is removed in every case.
 */
export function orAbort<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  if (signal.aborted) {
    work.catch(() => {});
    return Promise.reject(signal.reason);
  }
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    work.then(
      (value) => {
        signal.removeEventListener('abort', stop);
        resolve(value);
      },
      (reason: unknown) => {
        signal.removeEventListener('abort', stop);
        reject(reason);
      },
    );
  });
}

/** A controller that follows another signal until it is let go. */
export function childController(parent: AbortSignal): { controller: AbortController; detach: () => void } {
  const controller = new AbortController();
  if (parent.aborted) {
    controller.abort(parent.reason);
    return { controller, detach: () => {} };
  }
  const follow = () => controller.abort(parent.reason);
  parent.addEventListener('abort', follow, { once: true });
  return { controller, detach: () => parent.removeEventListener('abort', follow) };
}
