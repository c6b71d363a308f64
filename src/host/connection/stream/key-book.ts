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

/** Keys of all changes of a server: they outlive the time for which a session is open. */
export class KeyBook {
  readonly #limits: KeyLimits;
  /** By the user whose sessions they belong to, and by what is changed. */
  readonly #owners = new Map<string, Map<string, IdempotencyKeys>>();
  #timer: NodeJS.Timeout | undefined;

  constructor(limits: KeyLimits) {
    this.#limits = limits;
  }

  /** @throws CoxswainError `ALREADY_EXISTS / E_IDEMPOTENCY_CONFLICT`, `RESOURCE_EXHAUSTED / E_RATE_LIMIT` */
  async run<T>(userId: string, changed: string, change: KeyedChange, act: () => Promise<T>): Promise<T> {
    const { key, body, isInLog } = change;
    if (key === undefined) return act();
    const places = this.#owners.get(userId) ?? new Map<string, IdempotencyKeys>();
    this.#owners.set(userId, places);
    this.#makeRoom(places);
    const keys = places.get(changed) ?? new IdempotencyKeys(this.#limits);
    places.set(changed, keys);
    this.#timer ??= setTimeout(() => this.#sweep(), Math.min(this.#limits.keyMs, SWEEP_MS)).unref();
    return keys.run(key, body, isInLog, act);
  }

  /** What was changed is gone, and so is all that has had a name which begins with this: another one of it is another one. */
  forget(userId: string, changed: string): void {
    const places = this.#owners.get(userId);
    for (const name of places?.keys() ?? []) if (name.startsWith(changed)) places?.delete(name);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#owners.clear();
  }

  #makeRoom(places: Map<string, IdempotencyKeys>): void {
    const max = this.#limits.maxKeys * FULL_SESSIONS;
    const all = [...places.values()];
    const count = () => all.reduce((sum, { size }) => sum + size, 0);
    if (count() < max) return;
    for (const keys of all) keys.sweep();
    if (count() < max || all.some((keys) => keys.giveWay())) return;
    const message = `${max} changes of one principal are remembered by their keys; continue in a while`;
    throw new CoxswainError('RESOURCE_EXHAUSTED', 'E_RATE_LIMIT', message);
  }

  #sweep(): void {
    this.#timer = undefined;
    for (const [userId, places] of this.#owners) {
      for (const [changed, keys] of places) {
        keys.sweep();
        if (keys.size === 0) places.delete(changed);
      }
      if (places.size === 0) this.#owners.delete(userId);
    }
    if (this.#owners.size > 0)
      this.#timer = setTimeout(() => this.#sweep(), Math.min(this.#limits.keyMs, SWEEP_MS)).unref();
  }
}
