import { MAX_TIMER_MS } from '../../../../base/index.ts';

/** Gives a call up after a time without a sign of life. While somebody is asked no time passes. */
export class Idle {
  readonly #controller = new AbortController();
  readonly #ms: number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #holds = 0;
  #isOver = false;

  constructor(ms: number) {
    this.#ms = Math.min(ms, MAX_TIMER_MS);
    this.touch();
  }

  /** Fires when it was idle for too long. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  touch(): void {
    clearTimeout(this.#timer);
    if (this.#holds === 0 && !this.#isOver) this.#timer = setTimeout(() => this.#controller.abort(), this.#ms);
  }

  hold(): void {
    this.#holds += 1;
    clearTimeout(this.#timer);
  }

  release(): void {
    this.#holds -= 1;
    this.touch();
  }

  /** Nobody waits for the call any more, though somebody may still be asked. */
  end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }
}
