/** Milliseconds that a timer reaches; one that is set further off fires at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Milliseconds that a server keeps a connection over which nobody asks. Longer than the 60 seconds that proxies keep theirs
 * by default: of two ends that give up at once, the one that asks loses its request.
 */
export const KEEP_ALIVE_MS = 65_000;

/** Whether a limit of time can run out: 0 is no limit, and what no timer reaches is none either. */
export function isTimed(limitMs: number): boolean {
  return limitMs > 0 && limitMs <= MAX_TIMER_MS;
}

// As it is now: whoever replaces the clock later means to hold time, not the process.
const every = setInterval;
const stop = clearInterval;

/** What work comes to. Until then the process does not end, also where nothing else keeps it. */
export async function keepingProcess<T>(work: Promise<T>): Promise<T> {
  const timer = every(() => {}, MAX_TIMER_MS);
  try {
    return await work;
  } finally {
    stop(timer);
  }
}
