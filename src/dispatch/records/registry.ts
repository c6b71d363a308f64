import { bag, checkIs } from '../../session/index.ts';

/** Named values that the steps of a turn leave for one another; per-turn overrides of adapters live here. */
export class Registry {
  readonly #values: Map<string, unknown>;

  constructor(initial: Readonly<Record<string, unknown>> = {}) {
    checkIs(initial, 'Registry: values', bag);
    this.#values = new Map(Object.entries(initial));
  }

  get<T = unknown>(key: string): T | undefined {
    return this.#values.get(key) as T | undefined;
  }

  set(key: string, value: unknown): this {
    this.#values.set(key, value);
    return this;
  }

  has(key: string): boolean {
    return this.#values.has(key);
  }

  delete(key: string): boolean {
    return this.#values.delete(key);
  }

  /** Everything, as an object of its own. */
  all(): Record<string, unknown> {
    return Object.fromEntries(this.#values);
  }
}
