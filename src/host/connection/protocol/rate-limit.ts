/** Messages that may come at once, in seconds of the rate. */
const BURST_SECONDS = 2;

/** A bucket that fills at a steady rate. */
export class RateLimit {
  readonly #perSecond: number;
  #left: number;
  #at = performance.now();

  constructor(perSecond: number) {
    this.#perSecond = perSecond;
    this.#left = perSecond * BURST_SECONDS;
  }

  take(): boolean {
    const now = performance.now();
    this.#left = Math.min(this.#perSecond * BURST_SECONDS, this.#left + ((now - this.#at) / 1000) * this.#perSecond);
    this.#at = now;
    if (this.#left < 1) return false;
    this.#left--;
    return true;
  }
}
