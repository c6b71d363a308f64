import { MAX_TIMER_MS, newId } from '../../base/index.ts';
import type { Dispatcher, SessionPlace } from '../../contracts/index.ts';
import { nameOfPlace } from '../../session/index.ts';

/** How often a look that fails is tried. */
const TRIES = 5;
/** Milliseconds before it is tried again for the first time; each time twice as long. */
const AGAIN_MS = 200;

interface Server {
  readonly look: (place: SessionPlace) => Promise<void>;
  readonly concurrency: number;
  readonly running: Set<Promise<void>>;
}

/** The dispatcher of one process: what waits is in memory, and comes back with the next start's look into the store. */
export class ProcessDispatcher implements Dispatcher {
  readonly #warn: (message: string, error?: unknown) => void;
  /** Places that wait, by name, in the order of their wakes. */
  readonly #waiting = new Map<string, { place: SessionPlace; tries: number; priority: number }>();
  /** Names of those that are looked at now. */
  readonly #running = new Set<string>();
  readonly #timers = new Map<string, NodeJS.Timeout>();
  #servers: readonly Server[] = [];

  constructor(warn: (message: string, error?: unknown) => void) {
    this.#warn = warn;
  }

  async wake(place: SessionPlace, { priority = 0 }: { priority?: number } = {}): Promise<void> {
    this.#put(place, 0, priority);
  }

  async schedule(place: SessionPlace, at: Date): Promise<void> {
    this.#later(place, at.getTime(), 0);
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

  #put({ agent, userId, sessionId }: SessionPlace, tries: number, priority = 0): void {
    const place = { agent, userId, sessionId };
    const name = nameOfPlace(place);
    if (!this.#waiting.has(name)) this.#waiting.set(name, { place, tries, priority });
    this.#take();
  }

  #later(place: SessionPlace, at: number, tries: number): void {
    const id = newId();
    const wait = () => {
      const left = at - Date.now();
      if (left <= 0) {
        this.#timers.delete(id);
        this.#put(place, tries);
      } else this.#timers.set(id, setTimeout(wait, Math.min(left, MAX_TIMER_MS)).unref());
    };
    wait();
  }

  #take(): void {
    for (const server of this.#servers) {
      for (const [name, { place, tries }] of this.#inOrder()) {
        if (server.running.size >= server.concurrency) break;
        // Whoever looks at it now may have looked before what woke it: it is looked at once more.
        if (this.#running.has(name)) continue;
        this.#waiting.delete(name);
        this.#running.add(name);
        const looking = this.#look(server, place, tries).finally(() => {
          this.#running.delete(name);
          server.running.delete(looking);
          this.#take();
        });
        server.running.add(looking);
      }
    }
  }

  /** What is more urgent comes first, then what came first. */
  #inOrder(): Iterable<[string, { place: SessionPlace; tries: number; priority: number }]> {
    const waiting = [...this.#waiting];
    return waiting.some(([, { priority }]) => priority !== 0)
      ? waiting.sort(([, one], [, other]) => other.priority - one.priority)
      : waiting;
  }

  async #look({ look }: Server, place: SessionPlace, tries: number): Promise<void> {
    try {
      await look(place);
    } catch (error) {
      const isLast = tries + 1 >= TRIES;
      this.#warn(`session ${place.sessionId} could not be looked at${isLast ? '' : '; it is tried again'}`, error);
      if (!isLast) this.#later(place, Date.now() + AGAIN_MS * 2 ** tries, tries + 1);
    }
  }
}
