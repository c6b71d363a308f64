/** How many may be in at one time for each owner; whoever comes then waits. */
export class Turns {
  readonly #limit: number;
  readonly #taken = new Map<string | undefined, number>();
  readonly #waiting = new Map<string | undefined, (() => void)[]>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Resolves when there is room; what it resolves to gives the place back, once. */
  async take(owner: string | undefined): Promise<() => void> {
    const taken = this.#taken.get(owner) ?? 0;
    if (taken < this.#limit) this.#taken.set(owner, taken + 1);
    else await new Promise<void>((resolve) => this.#queueOf(owner).push(resolve));
    let isHeld = true;
    return () => {
      if (isHeld) this.#give(owner);
      isHeld = false;
    };
  }

  #queueOf(owner: string | undefined): (() => void)[] {
    const queue = this.#waiting.get(owner) ?? [];
    this.#waiting.set(owner, queue);
    return queue;
  }

  /** To whoever waited longest, if somebody does. */
  #give(owner: string | undefined): void {
    const next = this.#waiting.get(owner)?.shift();
    if (next) {
      next();
      return;
    }
    this.#waiting.delete(owner);
    const taken = (this.#taken.get(owner) ?? 1) - 1;
    if (taken > 0) this.#taken.set(owner, taken);
    else this.#taken.delete(owner);
  }
}
