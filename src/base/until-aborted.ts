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
/** Who is told of the abort of one signal. */
class Heeding {
  readonly #signal: AbortSignal;
  readonly #tells = new Set<() => void>();

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  add(tell: () => void): void {
    if (this.#tells.size === 0) this.#signal.addEventListener('abort', this);
    this.#tells.add(tell);
  }

  delete(tell: () => void): void {
    if (this.#tells.delete(tell) && this.#tells.size === 0) this.#signal.removeEventListener('abort', this);
  }

  handleEvent(): void {
    for (const tell of [...this.#tells]) {
      // An earlier one may have made it leave.
      if (!this.#tells.has(tell)) continue;
      try {
        tell();
      } catch (error) {
        // As with listeners of the signal: one that fails keeps no other from being told.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}

const heedings = new WeakMap<AbortSignal, Heeding>();

/**
 * Calls `tell` when the signal is aborted, until the returned function is called. For many at once on one signal: they are
 * one listener of it, while each listener that is added is held against all that are there.
 */
export function heedAbort(signal: AbortSignal, tell: () => void): () => void {
  let heeding = heedings.get(signal);
  if (!heeding) {
    heeding = new Heeding(signal);
    heedings.set(signal, heeding);
  }
  const own = heeding;
  own.add(tell);
  return () => own.delete(tell);
}
