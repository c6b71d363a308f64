import { MAX_TIMER_MS } from '../../session/index.ts';
import { Breach } from './breach.ts';

/** Bounds every wait of a check, so that an executor that hangs fails with what was waited for. */
export class Deadline {
  readonly #ms: number;
  readonly #signal: AbortSignal | undefined;

  /** @param ms that one wait may take */
  constructor(ms: number, signal?: AbortSignal) {
    this.#ms = Math.min(ms, MAX_TIMER_MS);
    this.#signal = signal;
  }

  /** @throws Breach when `work` takes longer than one wait may */
  async within<T>(work: Promise<T>, what: string): Promise<T> {
    this.#signal?.throwIfAborted();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Breach(what, `nothing within ${this.#ms} ms`)), this.#ms);
    });
    try {
      return await Promise.race([work, late]);
    } finally {
      clearTimeout(timer);
    }
  }
}
