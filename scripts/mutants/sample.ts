import { readFile } from 'node:fs/promises';
import { mutantsOf } from './stryker.ts';

export interface Position {
  line: number;
  column: number;
}

/** A place in a file that some mutant changes; lines and columns from 0. */
export interface Place {
  fileName: string;
  location: { start: Position; end: Position };
}

/** Texts are mostly messages, for people: no test holds their words. */
export const excludedMutations = ['StringLiteral'];

/** Of a larger mutant all that are inside it would run, too. */
const MAX_INSIDE = 5;

/** Patterns for Stryker that together make at least `size` mutants, evenly over the files; the same for one seed. */
export async function sample(files: readonly string[], size: number, seed: number): Promise<string[]> {
  const read = files.map(async (name) => ({ name, content: await readFile(name, 'utf8') }));
  const all: Place[] = await mutantsOf(await Promise.all(read), { excludedMutations });
  const inside = new Map(all.map((place) => [place, all.filter((other) => isInside(other, place))]));
  const taken = new Set<Place>();
  const patterns: string[] = [];
  for (const place of shuffled(all, seed)) {
    if (taken.size >= size) break;
    const within = inside.get(place) ?? [];
    if (taken.has(place) || within.length > MAX_INSIDE) continue;
    for (const one of within) taken.add(one);
    patterns.push(patternOf(place));
  }
  return patterns;
}

/** As Stryker takes it: lines from 1, columns from 0. */
export function patternOf({ fileName, location: { start, end } }: Place): string {
  return `${fileName}:${start.line + 1}:${start.column}-${end.line + 1}:${end.column}`;
}

function isInside(one: Place, other: Place): boolean {
  if (one.fileName !== other.fileName) return false;
  const [a, b] = [one.location, other.location];
  return compare(a.start, b.start) >= 0 && compare(a.end, b.end) <= 0;
}

function compare(a: Position, b: Position): number {
  return a.line - b.line || a.column - b.column;
}

function shuffled<T>(list: readonly T[], seed: number): T[] {
  const made = [...list];
  let state = seed >>> 0;
  const random = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  for (let at = made.length - 1; at > 0; at--) {
    const other = Math.floor(random() * (at + 1));
    [made[at], made[other]] = [made[other] as T, made[at] as T];
  }
  return made;
}
