import { inTime } from '../../session/index.ts';

/** Milliseconds that a store has to answer. */
const PATIENCE_MS = 2000;
/** Milliseconds that an answer counts: whoever may ask this needs no credentials. */
const FRESH_MS = 500;

/** Whether the store of a server answers: one look at a time, however many ask. */
export class Readiness {
  readonly #look: () => Promise<void>;
  readonly #warn: (message: string, error?: unknown) => void;
  #looking: Promise<void> | undefined;
  #known: { isReady: boolean; until: number } | undefined;
  /** Seconds that the newest look took, up to `PATIENCE_MS`. */
  #tookSeconds = 0;

  constructor(look: () => Promise<void>, warn: (message: string, error?: unknown) => void) {
    this.#look = look;
    this.#warn = warn;
  }

  /** Of the store, for `/metrics`. */
  async figures(): Promise<Record<string, number>> {
    const isReady = await this.isReady();
    return { store_ready: isReady ? 1 : 0, store_answer_seconds: this.#tookSeconds };
  }

  async isReady(): Promise<boolean> {
    if (this.#known && Date.now() < this.#known.until) return this.#known.isReady;
    let isReady = false;
    let why: unknown;
    const since = performance.now();
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    const looking = this.#looking.then(
      () => {
        isReady = true;
      },
      (error: unknown) => {
        why = error;
      },
    );
    await inTime(looking, PATIENCE_MS);
    this.#tookSeconds = (performance.now() - since) / 1000;
    const before = this.#known?.isReady ?? true;
    this.#known = { isReady, until: Date.now() + FRESH_MS };
    if (before && !isReady) this.#warn('the store does not answer; /readyz says so until it does', why);
    return isReady;
  }
}
