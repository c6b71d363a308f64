/**
 * Bounds the part of each turn of the event loop that new sessions and new turns may take to start. Those that come
 * above it wait for the next turn of the loop, in the order of arrival: never for another session to get anywhere.
 * Sockets and timers are served in between.
 */
export class StartPace {
  readonly #ms: number;
  /** Milliseconds that starts have taken in this turn of the loop. */
  #spent = 0;
  /** What a start does at once is being measured. */
  #isStarting = false;
  #isTurnWatched = false;
  #waiting: ((() => void) | undefined)[] = [];
  /** Of `waiting`: whoever comes before has started. */
  #head = 0;

  /** @param ms milliseconds of one turn of the event loop; one start is let through in any case */
  constructor(ms: number) {
    this.#ms = ms;
  }

  /** Undefined: start now; else what to await first. */
  enter(): Promise<void> | undefined {
    if (this.#head === this.#waiting.length && !this.#isStarting && this.#spent < this.#ms) {
      this.#measure();
      return undefined;
    }
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  /** What a start does without waiting for I/O. */
  #measure(): void {
    this.#watchTurn();
    this.#isStarting = true;
    const since = performance.now();
    // A tick that a microtask asks for comes when all microtasks are over; any other comes before them.
    queueMicrotask(() =>
      process.nextTick(() => {
        this.#isStarting = false;
        this.#spent += performance.now() - since;
        this.#next();
      }),
    );
  }

  #watchTurn(): void {
    if (this.#isTurnWatched) return;
    this.#isTurnWatched = true;
    setImmediate(() => {
      this.#isTurnWatched = false;
      this.#spent = 0;
      this.#next();
    });
  }

  #next(): void {
    const start = this.#waiting[this.#head];
    if (!start || this.#isStarting || this.#spent >= this.#ms) return;
    this.#waiting[this.#head] = undefined;
    if (++this.#head === this.#waiting.length) {
      this.#waiting = [];
      this.#head = 0;
    }
    this.#measure();
    start();
  }
}
