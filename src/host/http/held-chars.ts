import { CoxswainError } from '../../contracts/index.ts';

/** Characters that each answer may hold, whatever others hold. */
const FREE = 256 * 1024;

/** Characters beyond that which the answers to one principal may hold together, and those of a server. */
const OF_PRINCIPAL = 32 * 1024 * 1024;
const OF_SERVER = 64 * 1024 * 1024;

/** What a server holds in memory for answers that nobody has read yet: of one principal, and of all together. */
export class HeldChars {
  readonly #of = new Map<string, number>();
  #all = 0;

  /** For one answer to a principal. */
  answer(principal: string): HeldAnswer {
    return new HeldAnswer((more) => this.#take(principal, more));
  }

  /** Characters beyond those that each answer may hold. */
  get all(): number {
    return this.#all;
  }

  #take(principal: string, more: number): boolean {
    const own = (this.#of.get(principal) ?? 0) + more;
    if (more > 0 && (own > OF_PRINCIPAL || this.#all + more > OF_SERVER)) return false;
    this.#all += more;
    if (own > 0) this.#of.set(principal, own);
    else this.#of.delete(principal);
    return true;
  }
}

/** What is held for one answer. */
export class HeldAnswer {
  readonly #take: (more: number) => boolean;
  #chars = 0;

  constructor(take: (more: number) => boolean) {
    this.#take = take;
  }

  /** @throws CoxswainError `RESOURCE_EXHAUSTED / E_RATE_LIMIT` where the server holds as much as it may */
  take(chars: number): void {
    if (this.tryTake(chars)) return;
    const message =
      'the server holds as much for answers that are not read yet as it may; read them, or come back later';
    throw new CoxswainError('RESOURCE_EXHAUSTED', 'E_RATE_LIMIT', message);
  }

  /** False: the server holds as much as it may. */
  tryTake(chars: number): boolean {
    if (!this.#take(beyond(this.#chars + chars) - beyond(this.#chars))) return false;
    this.#chars += chars;
    return true;
  }

  give(chars: number): void {
    const left = Math.max(0, this.#chars - chars);
    this.#take(beyond(left) - beyond(this.#chars));
    this.#chars = left;
  }

  giveAll(): void {
    this.give(this.#chars);
  }
}

const beyond = (chars: number): number => Math.max(0, chars - FREE);
