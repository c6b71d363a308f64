import { CoxswainError } from '../../contracts/index.ts';

/** How much one program takes upon itself. */
export interface AdmissionLimits {
  /** Turns that run at a time. Default: no limit. */
  turns?: number;
  /** Resident memory of the process in bytes above which nothing new is begun. Default: no limit. */
  memoryBytes?: number;
  /** Milliseconds after which whoever is refused is asked to come again. Default 1,000. */
  retryAfterMs?: number;
}

/** Milliseconds for which a reading of the memory counts. */
const READING_MS = 50;

/** Turns that run in one host, and whether there is room for another one. */
export class Entrance {
  readonly #limits: AdmissionLimits;
  readonly #memory: () => number;
  #running = 0;
  #refused = 0;
  #reading = { bytes: 0, at: Number.NEGATIVE_INFINITY };

  constructor(limits: AdmissionLimits = {}, memory: () => number = () => process.memoryUsage.rss()) {
    this.#limits = limits;
    this.#memory = memory;
  }

  get running(): number {
    return this.#running;
  }

  get refused(): number {
    return this.#refused;
  }

  get retryAfterMs(): number {
    return this.#limits.retryAfterMs ?? 1000;
  }

  /** Of what there is too much; undefined: there is room. */
  full(): string | undefined {
    const { turns, memoryBytes } = this.#limits;
    if (turns !== undefined && this.#running >= turns) return `${this.#running} turns run, of ${turns} at most`;
    if (memoryBytes === undefined) return undefined;
    const now = performance.now();
    if (now - this.#reading.at > READING_MS) this.#reading = { bytes: this.#memory(), at: now };
    const { bytes } = this.#reading;
    return bytes > memoryBytes ? `${bytes} bytes of memory are used, of ${memoryBytes} at most` : undefined;
  }

  /**
   * For a turn that is begun. What goes on is let in: it ends sooner than it would by waiting.
   * @throws CoxswainError `UNAVAILABLE / E_FULL` with `details.retryAfterMs`
   */
  admit(): void {
    const why = this.full();
    if (why === undefined) return;
    this.#refused++;
    const { retryAfterMs } = this;
    const message = `this program is full: ${why}; try again after ${retryAfterMs} ms, or at another node`;
    throw new CoxswainError('UNAVAILABLE', 'E_FULL', message, { details: { retryAfterMs } });
  }

  /** One runs, until the returned function is called. */
  enter(): () => void {
    this.#running++;
    let isIn = true;
    return () => {
      if (isIn) this.#running--;
      isIn = false;
    };
  }
}
