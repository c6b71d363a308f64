import { CoxswainError, canonicalJson } from '../../contracts/index.ts';

/** Keys that are remembered for one session. */
const MAX_KEYS = 1000;

/** Same key and body: same answer, done once. Same key, other body: a conflict. */
export class IdempotencyKeys {
  readonly #known = new Map<string, { body: string; result: Promise<unknown> }>();

  /** @throws CoxswainError `ALREADY_EXISTS / E_IDEMPOTENCY_CONFLICT` */
  run<T>(key: string | undefined, body: unknown, act: () => Promise<T>): Promise<T> {
    if (key === undefined) return act();
    const text = canonicalJson(body);
    const known = this.#known.get(key);
    if (known) {
      if (known.body === text) return known.result as Promise<T>;
      const message = `key ${JSON.stringify(key)} belongs to another request; use a new key for a new request`;
      return Promise.reject(new CoxswainError('ALREADY_EXISTS', 'E_IDEMPOTENCY_CONFLICT', message));
    }
    const result = act();
    this.#known.set(key, { body: text, result });
    // What was refused has changed nothing and may be asked again.
    result.catch(() => this.#known.delete(key));
    const oldest = this.#known.size > MAX_KEYS ? this.#known.keys().next().value : undefined;
    if (oldest !== undefined) this.#known.delete(oldest);
    return result;
  }

  has(key: string): boolean {
    return this.#known.has(key);
  }
}
