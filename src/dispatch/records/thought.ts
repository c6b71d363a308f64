import type { TimeLike } from './raw-value.ts';
import { RawValue } from './raw-value.ts';

export interface RawThought {
  id: string;
  content: string;
  createdAt: TimeLike;
  updatedAt: TimeLike;
}

/** What the model thought on the way. Immutable. */
export class Thought {
  readonly id: string;
  readonly content: string;
  readonly #createdAt: number;
  readonly #updatedAt: number;

  /** @throws CoxswainError `INVALID_ARGUMENT / E_INVALID_INITIAL_VALUE` */
  constructor(raw: RawThought) {
    const value = new RawValue('Thought', raw);
    this.id = value.text('id');
    this.content = value.text('content');
    this.#createdAt = value.time('createdAt');
    this.#updatedAt = value.time('updatedAt');
    value.done();
    Object.freeze(this);
  }

  get createdAt(): Date {
    return new Date(this.#createdAt);
  }

  get updatedAt(): Date {
    return new Date(this.#updatedAt);
  }
}
