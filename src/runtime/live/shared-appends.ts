import { isCoxswainError } from '../../contracts/index.ts';
import type { StoredEvent } from '../log/index.ts';

interface Fault {
  error: unknown;
}
/** By place among what was written together; none: all of it is stored. */
type Faults = readonly (Fault | undefined)[];

/** Appends that share the next transaction. */
interface Queued {
  readonly parts: StoredEvent[][];
  readonly faults: Promise<Faults>;
}

export interface AppendTarget {
  /** Resolves to the events as they are stored. */
  write(events: readonly StoredEvent[], epoch: number): Promise<readonly StoredEvent[]>;
  /** Takes in what was stored; undefined: at once. */
  absorb(stored: readonly StoredEvent[]): Promise<unknown> | undefined;
}

const none: Faults = [];
const fine = () => undefined;

/** Writes one batch of a run's events at a time. Those that arrive meanwhile share the next transaction. */
export class SharedAppends {
  readonly #target: AppendTarget;
  #writing: Promise<void> | undefined;
  #queued: Queued | undefined;

  constructor(target: AppendTarget) {
    this.#target = target;
  }

  get isWriting(): boolean {
    return this.#writing !== undefined;
  }

  /** Resolves when they are written. */
  commit(events: StoredEvent[], epoch: number): Promise<void> {
    if (!this.#writing) {
      this.#writing = this.#writeNow(events, epoch);
      return this.#writing;
    }
    this.#queued ??= this.#queue(this.#writing, epoch);
    const { parts, faults } = this.#queued;
    const index = parts.push(events) - 1;
    return faults.then((found) => {
      const fault = found[index];
      if (fault) throw fault.error;
    });
  }

  async #writeNow(events: StoredEvent[], epoch: number): Promise<void> {
    try {
      const gap = this.#target.absorb(await this.#target.write(events, epoch));
      if (gap) await gap;
    } finally {
      this.#writing = undefined;
    }
  }

  /** What waits for `writing` to end, whatever becomes of that. */
  #queue(writing: Promise<void>, epoch: number): Queued {
    const parts: StoredEvent[][] = [];
    const next = () => {
      this.#queued = undefined;
      return this.#writeParts(parts, epoch);
    };
    return { parts, faults: writing.then(next, next) };
  }

  /** In one transaction; if an event of one of them is there already, each by itself: it is the fault of that one alone. */
  async #writeParts(parts: readonly StoredEvent[][], epoch: number): Promise<Faults> {
    try {
      await this.commit(parts.length === 1 && parts[0] ? parts[0] : parts.flat(), epoch);
      return none;
    } catch (error) {
      if (parts.length === 1 || !isCoxswainError(error) || error.code !== 'E_EVENT_EXISTS') {
        return parts.map(() => ({ error }));
      }
    }
    const faults: (Fault | undefined)[] = [];
    for (const part of parts) faults.push(await this.commit(part, epoch).then(fine, (error: unknown) => ({ error })));
    return faults;
  }
}
