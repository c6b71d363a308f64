import { createHash } from 'node:crypto';
import { CoxswainError, canonicalJson } from '../../../contracts/index.ts';

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
  readonly #known = new Map<string, Known>();

  constructor(limits: KeyLimits) {
    this.#limits = limits;
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
    this.#known.delete(key);
    this.#known.set(key, entry);
    result.then(
      () => {
        entry.at = Date.now();
      },
      // What was refused has changed nothing and may be asked again.
      () => {
        if (this.#known.get(key) === entry) this.#known.delete(key);
      },
    );
    return result;
  }

  get size(): number {
    return this.#known.size;
  }

  /** Forgets those whose time is over. */
  sweep(): void {
    for (const [key, known] of this.#known) {
      if (!this.#isOver(known)) break;
      this.#known.delete(key);
    }
  }

  /** Forgets the oldest one that the log tells of; false: there is none. */
  giveWay(): boolean {
    for (const [key, { isInLog, at }] of this.#known) {
      if (!isInLog || at === undefined) continue;
      this.#known.delete(key);
      return true;
    }
    return false;
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
