import { CoxswainError } from '../../contracts/index.ts';
import type { Owed } from './owed.ts';
import type { StateBook } from './state-book.ts';

/** Outcomes that an app is owed at most, those that were given up among them; and when there may be room again. */
const MOST = 100_000;
const FULL_MS = 60_000;

/** How many more outcomes may be owed. */
export class OutcomeRoom {
  readonly #books: readonly StateBook<Owed>[];
  readonly #warn: (message: string) => void;
  #isFull = false;

  constructor(books: readonly StateBook<Owed>[], warn: (message: string) => void) {
    this.#books = books;
    this.#warn = warn;
  }

  /**
   * For the outcome of a turn that has not begun.
   * @throws CoxswainError `UNAVAILABLE / E_FULL` with `details.retryAfterMs`
   */
  async assert(): Promise<void> {
    if (await this.#isThere()) return;
    const message = `${MOST} outcomes are owed to webhooks already: see to their receivers, or submit without a webhook`;
    throw new CoxswainError('UNAVAILABLE', 'E_FULL', message, { details: { retryAfterMs: FULL_MS } });
  }

  /** For the message that a turn waits. False: it is left out, and how the turn ends is owed as before. */
  async hasForWaits(turnId: string): Promise<boolean> {
    const isThere = await this.#isThere();
    if (!isThere && !this.#isFull) {
      this.#warn(
        `webhooks are not sent that turn ${turnId} waits, nor of later ones: ${MOST} outcomes are owed already`,
      );
    }
    this.#isFull = !isThere;
    return isThere;
  }

  /** By what was read last, unless that leaves none: a program that adds to a book reads it. */
  async #isThere(): Promise<boolean> {
    for (const isRead of [true, false]) {
      let count = 0;
      for (const book of this.#books) count += ((isRead ? book.known : undefined) ?? (await book.read())).size;
      if (count < MOST) return true;
    }
    return false;
  }
}
