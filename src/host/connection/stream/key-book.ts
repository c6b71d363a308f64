import { CoxswainError } from '../../../contracts/index.ts';
import type { KeyLimits } from './idempotency.ts';
import { IdempotencyKeys } from './idempotency.ts';

/** A principal has so many times the keys that a session has. */
const FULL_SESSIONS = 16;
const SWEEP_MS = 60_000;

/** A change as its key knows it. */
export interface KeyedChange {
  key: string | undefined;
  /** What the same key may not be used for otherwise. */
  body: unknown;
  /** The log tells whether it was done. */
  isInLog: boolean;
}

/** What one user has changed, and how many keys of that are remembered: to count them anew for each change would cost as much as all others. */
interface Owner {
  readonly places: Map<string, IdempotencyKeys>;
  count: number;
}

/** Keys of all changes of a server: they outlive the time for which a session is open. */
export class KeyBook {
  readonly #limits: KeyLimits;
  /** By the user whose sessions they belong to, and by what is changed. */
  readonly #owners = new Map<string, Owner>();
  #timer: NodeJS.Timeout | undefined;

  constructor(limits: KeyLimits) {
    this.#limits = limits;
  }

  /** @throws CoxswainError `ALREADY_EXISTS / E_IDEMPOTENCY_CONFLICT`, `RESOURCE_EXHAUSTED / E_RATE_LIMIT` */
  async run<T>(userId: string, changed: string, change: KeyedChange, act: () => Promise<T>): Promise<T> {
    const { key, body, isInLog } = change;
    if (key === undefined) return act();
    const owner: Owner = this.#owners.get(userId) ?? { places: new Map(), count: 0 };
    this.#owners.set(userId, owner);
    this.#makeRoom(owner);
    const keys = owner.places.get(changed) ?? this.#keysOf(owner, changed);
    this.#timer ??= setTimeout(() => this.#sweep(), Math.min(this.#limits.keyMs, SWEEP_MS)).unref();
    return keys.run(key, body, isInLog, act);
  }

  /** What was changed is gone, and so is all that has had a name which begins with this: another one of it is another one. */
  forget(userId: string, changed: string): void {
    const owner = this.#owners.get(userId);
    if (!owner) return;
    for (const [name, keys] of owner.places) if (name.startsWith(changed)) leave(owner, name, keys);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#owners.clear();
  }

  #keysOf(owner: Owner, changed: string): IdempotencyKeys {
    const { places } = owner;
    const keys = new IdempotencyKeys(this.#limits, (more) => {
      // What is forgotten with its place is taken off there.
      if (places.get(changed) === keys) owner.count += more;
    });
    places.set(changed, keys);
    return keys;
  }

  #makeRoom(owner: Owner): void {
    const max = this.#limits.maxKeys * FULL_SESSIONS;
    if (owner.count < max) return;
    const all = [...owner.places.values()];
    for (const keys of all) keys.sweep();
    if (owner.count < max || all.some((keys) => keys.giveWay())) return;
    const message = `${max} changes of one principal are remembered by their keys; continue in a while`;
    throw new CoxswainError('RESOURCE_EXHAUSTED', 'E_RATE_LIMIT', message);
  }

  #sweep(): void {
    this.#timer = undefined;
    for (const [userId, owner] of this.#owners) {
      for (const [changed, keys] of owner.places) {
        keys.sweep();
        if (keys.size === 0) leave(owner, changed, keys);
      }
      if (owner.places.size === 0) this.#owners.delete(userId);
    }
    if (this.#owners.size > 0)
      this.#timer = setTimeout(() => this.#sweep(), Math.min(this.#limits.keyMs, SWEEP_MS)).unref();
  }
}

function leave(owner: Owner, changed: string, { size }: IdempotencyKeys): void {
  owner.places.delete(changed);
  owner.count -= size;
}
