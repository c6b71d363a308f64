/** Ids that one set holds; more stand in parts. */
const ONE_SET = 4096;
const PARTS = 256;

/**
 * The ids of a log. A set that grows copies all that is in it at once, of 100,000 ids for some milliseconds: of many ids
 * there are many sets, each of which grows by itself.
 */
export class EventIds {
  #sets: Set<string>[] = [new Set()];
  #size = 0;

  constructor(events: readonly { readonly id: string }[] = []) {
    for (const { id } of events) this.add(id);
  }

  /** Whether it was not there yet. */
  add(id: string): boolean {
    const set = this.#setOf(id);
    const { size } = set;
    // Whether the set grew tells what asking it first would: one look-up for each id.
    if (set.add(id).size === size) return false;
    this.#size += 1;
    if (this.#size > ONE_SET && this.#sets.length === 1) this.#part();
    return true;
  }

  delete(id: string): void {
    if (this.#setOf(id).delete(id)) this.#size -= 1;
  }

  #setOf(id: string): Set<string> {
    // There are one or all.
    return this.#sets[this.#sets.length === 1 ? 0 : partOf(id)] as Set<string>;
  }

  #part(): void {
    const [all = new Set<string>()] = this.#sets;
    this.#sets = Array.from({ length: PARTS }, () => new Set<string>());
    for (const id of all) this.#setOf(id).add(id);
  }
}

/** By what ids differ in: their ends. */
function partOf(id: string): number {
  const end = id.length - 1;
  let sum = 0;
  for (let at = Math.max(0, end - 2); at <= end; at++) sum = sum * 31 + id.charCodeAt(at);
  return sum % PARTS;
}
