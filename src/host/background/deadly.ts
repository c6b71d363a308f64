import type { SessionPlace } from '../../contracts/index.ts';
import { nameOfPlace } from '../../session/index.ts';

interface Found extends SessionPlace {
  deaths?: number;
}

/** Programs that may die at a turn one after the other, unless a host says otherwise. */
export const MAX_DEATHS = 10;

/** Turns at which too many programs have died, with nothing stored: what they do may be what kills, and is not tried again. */
export class DeadlyTurns {
  readonly #maxDeaths: number;
  readonly #warn: (message: string) => void;
  #known = new Set<string>();

  constructor(maxDeaths: number, warn: (message: string) => void) {
    this.#maxDeaths = maxDeaths;
    this.#warn = warn;
  }

  /** How many there were at the last look. */
  get size(): number {
    return this.#known.size;
  }

  /** What may be taken over of what was found; the rest is reported the first time. */
  without<T extends Found>(found: readonly T[]): T[] {
    const deadly = found.filter(({ deaths = 0 }) => deaths >= this.#maxDeaths);
    const before = this.#known;
    this.#known = new Set(deadly.map(nameOfPlace));
    for (const { sessionId, deaths, ...place } of deadly) {
      if (before.has(nameOfPlace({ sessionId, ...place }))) continue;
      this.#warn(
        `session ${sessionId}: ${deaths} programs have died at its turn one after the other and stored nothing; ` +
          'nobody takes it over any more: see what it does, then continue or abort it by hand',
      );
    }
    return found.filter((one) => !deadly.includes(one));
  }
}

/** Of turns that are to be continued at a start those that may be. */
export function withoutDeadly(
  places: readonly SessionPlace[],
  unattended: readonly Found[],
  warn: (message: string) => void,
): SessionPlace[] {
  const turns = new DeadlyTurns(MAX_DEATHS, warn);
  const left = new Set(turns.without(unattended).map(nameOfPlace));
  const known = new Set(unattended.map(nameOfPlace));
  return places.filter((place) => !known.has(nameOfPlace(place)) || left.has(nameOfPlace(place)));
}
