import { Pace } from '../../base/index.ts';

/** Calls that run side by side where nothing else is said. */
export const DEFAULT_TOOL_CONCURRENCY = 64;

/** Those that run beside one that wants to begin. */
interface Beside {
  readonly running: number;
  /** One of them wants to be alone. */
  readonly alone: boolean;
}

/** Whether one may begin beside others, of which `size` run at most. */
export function mayBegin(exclusive: boolean, { running, alone }: Beside, size: number): boolean {
  return !alone && (exclusive ? running === 0 : running < size);
}

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
        const over = () => {
          this.#running--;
          this.#alone = false;
          this.#next();
        };
        void work().then(over, (error: unknown) => {
          over();
          throw error;
        });
      },
    });
    this.#next();
  }

  #next(): void {
    for (let item = this.#waiting[0]; item; item = this.#waiting[0]) {
      if (!mayBegin(item.exclusive, { running: this.#running, alone: this.#alone }, this.#size)) return;
      this.#waiting.shift();
      item.start();
    }
  }
}

/**
 * Runs one piece of work for each item, in their order, as a {@link RunQueue} does. Waits for all that has begun, then
 * fails if one did: nothing begins behind a failure, and nothing goes on behind the return.
 */
export async function runInTurn<T>(
  items: readonly T[],
  { size, isExclusive }: { size: number; isExclusive(item: T): boolean },
  work: (item: T) => Promise<void>,
): Promise<void> {
  const [only] = items;
  if (items.length === 1 && only !== undefined) return work(only);
  const queue = new RunQueue(size);
  const pace = new Pace();
  const faults: unknown[] = [];
  const one = async (item: T) => {
    if (faults.length > 0) return;
    try {
      await work(item);
    } catch (error) {
      faults.push(error);
    }
    const rest = items.length > size ? pace.rest() : undefined;
    if (rest) await rest;
  };
  const runs = items.map(
    (item) =>
      new Promise<void>((resolve) => {
        queue.add(isExclusive(item), () => one(item).finally(resolve));
      }),
  );
  await Promise.all(runs);
  if (faults.length > 0) throw faults[0];
}
