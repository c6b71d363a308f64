import type { SessionPlace } from '../../contracts/index.ts';
import { nameOfPlace } from '../../session/index.ts';

/** Requests that are under way to one receiver at a time: it may not answer, for as long as each may take. */
const AT_ONCE = 16;
/** Places that wait for room at one receiver. Those beyond are found where overdue ones are looked for. */
const MOST_WAITING = 1000;

/** One receiver's. */
interface Line {
  running: number;
  readonly waiting: Map<string, SessionPlace>;
}

/**
 * Deliveries, beside the looks of the host: those are for turns too, and a receiver that does not answer would hold all of
 * them.
 */
export class OutcomeSends {
  readonly #look: (place: SessionPlace) => Promise<void>;
  readonly #warn: (message: string, error?: unknown) => void;
  readonly #lines = new Map<string, Line>();
  readonly #running = new Set<Promise<void>>();
  #isClosed = false;

  /** @param look at a place for which there is room now */
  constructor(look: (place: SessionPlace) => Promise<void>, warn: (message: string, error?: unknown) => void) {
    this.#look = look;
    this.#warn = warn;
  }

  /** Takes a place at a receiver; what it gives gives the place back. Undefined: there is none, and it is looked at again when there is. */
  enter(to: string, place: SessionPlace): (() => void) | undefined {
    const line = this.#lines.get(to) ?? { running: 0, waiting: new Map<string, SessionPlace>() };
    if (line.running >= AT_ONCE) {
      if (line.waiting.size < MOST_WAITING) line.waiting.set(nameOfPlace(place), place);
      return undefined;
    }
    this.#lines.set(to, line);
    line.running++;
    let isLeft = false;
    return () => {
      if (isLeft) return;
      isLeft = true;
      line.running--;
      this.#next(line);
    };
  }

  /** Nobody waits for it but `close`. It does not reject. */
  run(work: Promise<void>): void {
    const running = work.finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Resolves when nothing is under way any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#running);
  }

  #next(line: Line): void {
    const [first] = line.waiting;
    if (this.#isClosed || !first) return;
    const [name, place] = first;
    line.waiting.delete(name);
    this.run(
      this.#look(place).catch((error: unknown) => {
        this.#warn(`the outcome of session ${place.sessionId} could not be looked at; it is looked for again`, error);
      }),
    );
  }
}
