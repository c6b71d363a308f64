import { MAX_TIMER_MS, newId } from '../../base/index.ts';
import type { Dispatcher, SessionPlace } from '../../contracts/index.ts';
import { nameOfPlace } from '../../session/index.ts';

/** How often a look that fails is tried. */
const TRIES = 5;
/** Milliseconds before it is tried again for the first time; each time twice as long. */
const AGAIN_MS = 200;

interface Waiting {
  readonly place: SessionPlace;
  tries: number;
  priority: number;
}

interface Server {
  readonly look: (place: SessionPlace) => Promise<void>;
  readonly concurrency: number;
  readonly running: Set<Promise<void>>;
}

/** The dispatcher of one process: what waits is in memory, and comes back with the next start's look into the store. */
export class ProcessDispatcher implements Dispatcher {
  readonly #warn: (message: string, error?: unknown) => void;
  /** Places that wait, by priority and name, in the order of their wakes: what is taken next is at hand, however many wait. */
  readonly #waiting = new Map<number, Map<string, Waiting>>();
  /** Priorities of what waits, the highest last. */
  readonly #order: number[] = [];
  /** The priority under which each of them waits. */
  readonly #priorities = new Map<string, number>();
  /** Names of those that are looked at now; with what is to be looked at once more. */
  readonly #running = new Map<string, Waiting | undefined>();
  readonly #timers = new Map<string, NodeJS.Timeout>();
  #servers: readonly Server[] = [];

  constructor(warn: (message: string, error?: unknown) => void) {
    this.#warn = warn;
  }

  async wake(place: SessionPlace, { priority = 0 }: { priority?: number } = {}): Promise<void> {
    this.#put(place, 0, priority);
  }

  async schedule(place: SessionPlace, at: Date): Promise<void> {
    this.#later(place, at.getTime(), 0, 0);
  }

  async serve(look: Server['look'], { concurrency }: { concurrency: number }): Promise<() => Promise<void>> {
    const server: Server = { look, concurrency, running: new Set() };
    this.#servers = [...this.#servers, server];
    this.#take();
    return async () => {
      this.#servers = this.#servers.filter((one) => one !== server);
      await Promise.all(server.running);
    };
  }

  /** Resolves when nothing runs here and nothing waits, but for what is scheduled. */
  async quiet(): Promise<void> {
    for (;;) {
      const running = this.#servers.flatMap((server) => [...server.running]);
      if (running.length === 0) return;
      await Promise.all(running);
    }
  }

  async close(): Promise<void> {
    const servers = this.#servers;
    this.#servers = [];
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
    await Promise.all(servers.flatMap(({ running }) => [...running]));
  }

  #put({ agent, userId, sessionId }: SessionPlace, tries: number, priority: number): void {
    const place = { agent, userId, sessionId };
    const name = nameOfPlace(place);
    const waiting = { place, tries, priority };
    // Whoever looks at it now may have looked before what woke it: it is looked at once more.
    if (this.#running.has(name)) this.#running.set(name, moreUrgent(this.#running.get(name), waiting));
    else this.#wait(name, waiting);
    this.#take();
  }

  #wait(name: string, waiting: Waiting): void {
    const before = this.#priorities.get(name);
    const known = before === undefined ? undefined : this.#waiting.get(before)?.get(name);
    if (known && waiting.priority <= known.priority) return;
    if (known) this.#remove(name, known.priority);
    const { priority } = waiting;
    const ofIt = this.#waiting.get(priority);
    const one = known ? { ...known, priority } : waiting;
    if (ofIt) ofIt.set(name, one);
    else {
      this.#waiting.set(priority, new Map([[name, one]]));
      this.#order.splice(placeOf(this.#order, priority), 0, priority);
    }
    this.#priorities.set(name, priority);
  }

  #remove(name: string, priority: number): void {
    const ofIt = this.#waiting.get(priority);
    ofIt?.delete(name);
    if (ofIt?.size === 0) {
      this.#waiting.delete(priority);
      this.#order.splice(placeOf(this.#order, priority), 1);
    }
    this.#priorities.delete(name);
  }

  #later(place: SessionPlace, at: number, tries: number, priority: number): void {
    const id = newId();
    const wait = () => {
      const left = at - Date.now();
      if (left <= 0) {
        this.#timers.delete(id);
        this.#put(place, tries, priority);
      } else this.#timers.set(id, setTimeout(wait, Math.min(left, MAX_TIMER_MS)).unref());
    };
    wait();
  }

  #take(): void {
    for (const server of this.#servers) {
      while (server.running.size < server.concurrency) {
        const next = this.#next();
        if (!next) return;
        const [name, waiting] = next;
        this.#remove(name, waiting.priority);
        this.#running.set(name, undefined);
        const looking = this.#look(server, waiting).finally(() => {
          const again = this.#running.get(name);
          this.#running.delete(name);
          server.running.delete(looking);
          if (again) this.#wait(name, again);
          this.#take();
        });
        server.running.add(looking);
      }
    }
  }

  /** What is more urgent comes first, then what came first. */
  #next(): [string, Waiting] | undefined {
    const highest = this.#order.at(-1);
    const [next] = (highest === undefined ? undefined : this.#waiting.get(highest)) ?? [];
    return next;
  }

  async #look({ look }: Server, { place, tries, priority }: Waiting): Promise<void> {
    try {
      await look(place);
    } catch (error) {
      const isLast = tries + 1 >= TRIES;
      this.#warn(`session ${place.sessionId} could not be looked at${isLast ? '' : '; it is tried again'}`, error);
      if (!isLast) this.#later(place, Date.now() + AGAIN_MS * 2 ** tries, tries + 1, priority);
    }
  }
}

const moreUrgent = (known: Waiting | undefined, waiting: Waiting): Waiting =>
  known && known.priority >= waiting.priority ? known : waiting;

/** Where a number stands, or would stand, among others in their order. */
function placeOf(order: readonly number[], number: number): number {
  let from = 0;
  let to = order.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((order[middle] ?? Number.POSITIVE_INFINITY) < number) from = middle + 1;
    else to = middle;
  }
  return from;
}
