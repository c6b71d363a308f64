import { createHash } from 'node:crypto';
import { CoxswainError, canonicalJson } from '../../../contracts/index.ts';
import { LazyMap } from '../../../session/index.ts';

export interface KeyLimits {
  /** Milliseconds that a key is remembered after its answer. */
  keyMs: number;
  /** Keys that are remembered at once. */
  maxKeys: number;
}

interface Known {
  digest: string;
  result: Promise<unknown>;
  /** When it was answered; undefined: it is not yet. */
  at: number | undefined;
  /** The log tells of it as well: it may be forgotten where there is no room. */
  isInLog: boolean;
}

/** Same key and body: same answer, done once. Same key, other body: a conflict. No key is forgotten before its time. */
export class IdempotencyKeys {
  readonly #limits: KeyLimits;
  /** Most sessions have one or two. */
  readonly #known = new LazyMap<string, Known>();
  readonly #counted: (more: number) => void;
  /** When the newest answer was given. */
  #answeredAt = Number.NEGATIVE_INFINITY;

  /** @param counted called with each change of how many there are */
  constructor(limits: KeyLimits, counted: (more: number) => void = () => {}) {
    this.#limits = limits;
    this.#counted = counted;
  }

  /** @throws CoxswainError `ALREADY_EXISTS / E_IDEMPOTENCY_CONFLICT`, `RESOURCE_EXHAUSTED / E_RATE_LIMIT` */
  async run<T>(key: string | undefined, body: unknown, isInLog: boolean, act: () => Promise<T>): Promise<T> {
    if (key === undefined) return act();
    // Bodies may be large; their digests are not.
    const digest = createHash('sha256').update(canonicalJson(body)).digest('base64');
    const known = this.#known.get(key);
    if (known && !this.#isOver(known)) {
      if (known.digest === digest) return known.result as Promise<T>;
      const message = `key ${JSON.stringify(key)} belongs to another request; use a new key for a new request`;
      throw new CoxswainError('ALREADY_EXISTS', 'E_IDEMPOTENCY_CONFLICT', message);
    }
    this.#makeRoom();
    const result = act();
    const entry: Known = { digest, result, at: undefined, isInLog };
    this.#forget(key);
    this.#known.set(key, entry);
    this.#counted(1);
    result.then(
      () => {
        entry.at = Date.now();
        this.#answeredAt = entry.at;
      },
      // What was refused has changed nothing and may be asked again.
      () => {
        if (this.#known.get(key) === entry) this.#forget(key);
      },
    );
    return result;
  }

  get size(): number {
    return this.#known.size;
  }

  /** Forgets those whose time is over. */
  sweep(): void {
    // To go over it would make a map of one that is alone.
    if (this.#known.size === 1 && this.#answeredAt + this.#limits.keyMs >= Date.now()) return;
    for (const [key, known] of this.#known) {
      if (!this.#isOver(known)) break;
      this.#forget(key);
    }
  }

  /** Forgets the oldest one that the log tells of; false: there is none. */
  giveWay(): boolean {
    for (const [key, { isInLog, at }] of this.#known) {
      if (!isInLog || at === undefined) continue;
      this.#forget(key);
      return true;
    }
    return false;
  }

  #forget(key: string): void {
    if (this.#known.delete(key)) this.#counted(-1);
  }

  #makeRoom(): void {
    this.sweep();
    if (this.#known.size < this.#limits.maxKeys || this.giveWay()) return;
    const message = `${this.#known.size} changes of the session are remembered by their keys; continue in a while`;
    throw new CoxswainError('RESOURCE_EXHAUSTED', 'E_RATE_LIMIT', message);
  }

  #isOver({ at }: Known): boolean {
    return at !== undefined && at + this.#limits.keyMs < Date.now();
  }
}
