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

/**
 * Work under a signal of its own, which follows another for as long as the work goes on. Rejects with the reason as
 * soon as that fires, or the work is told to end, whatever it does then. Nothing is begun where it has fired already.
 * `settled` is told when it is over, and may be told again when the work has ended.
 */
export function underSignal<T>(
  parent: AbortSignal,
  work: (signal: AbortSignal, end: (reason: unknown) => void) => Promise<T>,
  settled?: () => void,
): Promise<T> {
  if (parent.aborted) return Promise.reject(parent.reason);
  return new Promise((resolve, reject) => {
    const controller = new AbortController();
    const end = (reason: unknown) => {
      settled?.();
      controller.abort(reason);
      reject(reason);
    };
    const stop = () => end(parent.reason);
    parent.addEventListener('abort', stop, { once: true });
    work(controller.signal, end).then(
      (value) => {
        parent.removeEventListener('abort', stop);
        settled?.();
        resolve(value);
      },
      (reason: unknown) => {
        parent.removeEventListener('abort', stop);
        settled?.();
        reject(reason);
      },
    );
  });
}
