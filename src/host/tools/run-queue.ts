/** Runs pieces of work side by side up to a number; those that are exclusive run alone. In the order of arrival. */
export class RunQueue {
  readonly #size: number;
  readonly #waiting: { exclusive: boolean; start: () => void }[] = [];
  #running = 0;
  #alone = false;

  constructor(size: number) {
    this.#size = size;
  }

  add(exclusive: boolean, work: () => Promise<void>): void {
    this.#waiting.push({
      exclusive,
      start: () => {
        this.#running++;
        this.#alone = exclusive;
        void work().finally(() => {
          this.#running--;
          this.#alone = false;
          this.#next();
        });
      },
    });
    this.#next();
  }

  #next(): void {
    for (let item = this.#waiting[0]; item; item = this.#waiting[0]) {
      const free = !this.#alone && (item.exclusive ? this.#running === 0 : this.#running < this.#size);
      if (!free) return;
      this.#waiting.shift();
      item.start();
    }
  }
}
