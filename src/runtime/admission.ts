/** Starts in one turn of the event loop. */
const AT_ONCE = 2;

// As it is now: whoever replaces the clock later means to hold time, not starts.
const later = setImmediate;

/**
 * Lets a few start in each turn of the event loop. Thousands that start in one turn would go through every step side
 * by side: sockets and timers would wait until the last of them is through, and what each makes in passing would
 * outlive a garbage collection.
 */
export class Admission {
  #admitted = 0;
  #waiting: (() => void)[] = [];
  /** Of `waiting`: whoever comes before has started. */
  #head = 0;

  /** Undefined: start now; else what to await first. Waits for the event loop to go round, never for others to end. */
  enter(): Promise<void> | undefined {
    if (this.#admitted < AT_ONCE && this.#waiting.length === 0) {
      if (this.#admitted++ === 0) later(() => this.#nextTurn());
      return undefined;
    }
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  #nextTurn(): void {
    const next = this.#waiting.slice(this.#head, this.#head + AT_ONCE);
    this.#head += next.length;
    if (this.#head === this.#waiting.length) {
      this.#waiting = [];
      this.#head = 0;
    }
    this.#admitted = next.length;
    if (next.length > 0) later(() => this.#nextTurn());
    for (const start of next) start();
  }
}
