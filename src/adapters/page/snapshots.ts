import { isCoxswainError } from '../../contracts/index.ts';
import type { RunResult } from '../../session/index.ts';

/**
 * A value that others watch. It is followed while somebody has subscribed: `follow` is called with the first, and is told
 * by its signal that the last has left. Changes of one moment are told once.
 */
export class Snapshots<T> {
  #value: T;
  readonly #make: () => T;
  readonly #follow: (gone: AbortSignal) => void;
  readonly #listeners = new Set<() => void>();
  #gone: AbortController | undefined;
  #isTelling = false;

  constructor(make: () => T, follow: (gone: AbortSignal) => void) {
    this.#make = make;
    this.#follow = follow;
    this.#value = make();
  }

  readonly get = (): T => this.#value;

  readonly subscribe = (listener: () => void): (() => void) => {
    // One function may be given twice, and each is taken back by itself.
    const own = () => listener();
    this.#listeners.add(own);
    if (!this.#gone) {
      this.#gone = new AbortController();
      this.#follow(this.#gone.signal);
    }
    return () => {
      this.#listeners.delete(own);
      // A page that draws anew leaves and comes back at once.
      setTimeout(() => this.#leave(), 0);
    };
  };

  /** Something has changed. */
  change(): void {
    if (this.#isTelling) return;
    this.#isTelling = true;
    queueMicrotask(() => {
      this.#isTelling = false;
      this.#value = this.#make();
      for (const listener of [...this.#listeners]) listener();
    });
  }

  #leave(): void {
    if (this.#listeners.size > 0) return;
    this.#gone?.abort();
    this.#gone = undefined;
  }
}

/** What a page is told of a failure: data alone. */
export function errorFor(thrown: unknown): NonNullable<RunResult['error']> {
  if (!isCoxswainError(thrown)) {
    const message = thrown instanceof Error ? thrown.message : 'it failed';
    return { status: 'INTERNAL', code: 'E_INTERNAL', message, retryable: false };
  }
  const { status, code, message, retryable } = thrown;
  return { status, code, message, retryable };
}
