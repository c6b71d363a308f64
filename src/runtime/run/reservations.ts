import { LazySet } from '../../base/index.ts';

/** What is being stored beside a run, and must be seen by it before it closes. */
export class Reservations {
  /** Counts them: another number says that what was open may be closed now. */
  count = 0;
  readonly #storing = new LazySet<Promise<unknown>>();

  add(work: Promise<unknown>): void {
    this.count++;
    this.#storing.add(work);
    const done = () => void this.#storing.delete(work);
    work.then(done, done);
  }

  /** Resolves when all of it is stored; undefined where nothing is under way. */
  stored(): Promise<void> | undefined {
    return this.#storing.size > 0 ? this.#settled() : undefined;
  }

  async #settled(): Promise<void> {
    while (this.#storing.size > 0) await Promise.allSettled(this.#storing);
  }
}
