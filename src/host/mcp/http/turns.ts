/** How many may be in at one time for each owner; whoever comes then waits, and of those only so many. */
export class Turns {
  readonly #limit: number;
  readonly #maxWaiting: number;
  readonly #taken = new Map<string | undefined, number>();
  readonly #waiting = new Map<string | undefined, Set<() => void>>();

  constructor(limit: number, maxWaiting: number) {
    this.#limit = limit;
    this.#maxWaiting = maxWaiting;
  }

  /** Whether as many wait as may. */
  isFull(owner: string | undefined): boolean {
    return (this.#waiting.get(owner)?.size ?? 0) >= this.#maxWaiting;
  }

  /**
   * Resolves when there is room; what it resolves to gives the place back, once. Undefined: `gone` has fired, and no place
   * was taken.
   */
  async take(owner: string | undefined, gone: AbortSignal): Promise<(() => void) | undefined> {
    if (gone.aborted) return undefined;
    const taken = this.#taken.get(owner) ?? 0;
    if (taken < this.#limit) this.#taken.set(owner, taken + 1);
    else if (!(await this.#turn(owner, gone))) return undefined;
    let isHeld = true;
    return () => {
      if (isHeld) this.#give(owner);
      isHeld = false;
    };
  }

  /** Waits for the place of somebody who leaves; false: nobody is there any more to take it. */
  #turn(owner: string | undefined, gone: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const queue = this.#waiting.get(owner) ?? new Set();
      this.#waiting.set(owner, queue);
      const leave = () => {
        queue.delete(come);
        resolve(false);
      };
      const come = () => {
        gone.removeEventListener('abort', leave);
        resolve(true);
      };
      queue.add(come);
      gone.addEventListener('abort', leave, { once: true });
    });
  }

  /** To whoever waited longest, if somebody does. */
  #give(owner: string | undefined): void {
    const queue = this.#waiting.get(owner);
    const [next] = queue ?? [];
    if (queue && next) {
      queue.delete(next);
      next();
      return;
    }
    this.#waiting.delete(owner);
    const taken = (this.#taken.get(owner) ?? 1) - 1;
    if (taken > 0) this.#taken.set(owner, taken);
    else this.#taken.delete(owner);
  }
}
