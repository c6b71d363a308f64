import { MAX_TIMER_MS } from './timer.ts';

/** Waits, however long, unless the signal fires: then rejects with its reason, and neither timer nor listener is left. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    let timer: ReturnType<typeof setTimeout>;
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const wait = (left: number) => {
      timer = setTimeout(
        () => {
          if (left > MAX_TIMER_MS) return wait(left - MAX_TIMER_MS);
          signal.removeEventListener('abort', stop);
          resolve();
        },
        Math.min(left, MAX_TIMER_MS),
      );
    };
    wait(ms);
    signal.addEventListener('abort', stop, { once: true });
  });
}
