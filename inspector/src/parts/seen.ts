import { signal } from '@preact/signals';

/** Which lines of what a yes is bound to have been on the screen. */
export class Seen {
  /** Names of what is to be seen, with the number of its lines. */
  readonly #parts = new Map<string, { total: number; seen: Set<number> }>();
  /** Lines that have not been on the screen. */
  readonly left = signal(Number.POSITIVE_INFINITY);

  expect(part: string, total: number): void {
    const known = this.#parts.get(part);
    if (known?.total === total) return;
    this.#parts.set(part, { total, seen: new Set() });
    this.#count();
  }

  note(part: string, lines: Iterable<number>): void {
    const known = this.#parts.get(part);
    if (!known) return;
    for (const line of lines) known.seen.add(line);
    this.#count();
  }

  /** The first line of a part that has not been on the screen. */
  firstUnseen(part: string): number | undefined {
    const known = this.#parts.get(part);
    if (!known) return undefined;
    for (let line = 0; line < known.total; line++) if (!known.seen.has(line)) return line;
    return undefined;
  }

  #count(): void {
    let left = 0;
    for (const { total, seen } of this.#parts.values()) left += total - seen.size;
    this.left.value = left;
  }
}
