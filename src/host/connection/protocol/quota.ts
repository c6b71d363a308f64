import { CoxswainError } from '../../../contracts/index.ts';

/** How much of something each principal may have at once. */
export class Quota {
  readonly #max: number;
  readonly #what: string;
  readonly #taken = new Map<string, number>();

  constructor(max: number, what: string) {
    this.#max = max;
    this.#what = what;
  }

  isFull(who: string): boolean {
    return (this.#taken.get(who) ?? 0) >= this.#max;
  }

  /** @throws CoxswainError `RESOURCE_EXHAUSTED / E_RATE_LIMIT` */
  take(who: string): void {
    if (this.isFull(who)) {
      const message = `${who} has ${this.#max} ${this.#what}, as many as one principal may; close some`;
      throw new CoxswainError('RESOURCE_EXHAUSTED', 'E_RATE_LIMIT', message);
    }
    this.#taken.set(who, (this.#taken.get(who) ?? 0) + 1);
  }

  give(who: string): void {
    const left = (this.#taken.get(who) ?? 0) - 1;
    if (left > 0) this.#taken.set(who, left);
    else this.#taken.delete(who);
  }
}
