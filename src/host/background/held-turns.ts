import type { SessionPlace } from '../../contracts/index.ts';
import { nameOfPlace } from '../../session/index.ts';

/** Milliseconds before a held turn is looked at again for the first time; each time twice as long. */
const FIRST_MS = 2_000;
const MOST_MS = 5 * 60_000;

/** So many are remembered; of the others each look is the first one. */
const MAX_KNOWN = 10_000;

/** Turns that wait for another version of their agent, and how often this program has looked at each. */
export class HeldTurns {
  readonly #looks = new Map<string, number>();

  isNew(place: SessionPlace): boolean {
    return !this.#looks.has(nameOfPlace(place));
  }

  /** When somebody is to look again. */
  next(place: SessionPlace): Date {
    const name = nameOfPlace(place);
    const looks = this.#looks.get(name) ?? 0;
    if (looks === 0 && this.#looks.size >= MAX_KNOWN) this.#looks.clear();
    this.#looks.set(name, looks + 1);
    return new Date(Date.now() + Math.min(FIRST_MS * 2 ** looks, MOST_MS));
  }

  over(place: SessionPlace): void {
    this.#looks.delete(nameOfPlace(place));
  }
}
