/** Ids that one map holds; more stand in parts. */
const ONE_MAP = 4096;
const PARTS = 256;
/** Copies of copies that look for ids in the logs that they were made of. */
const DEEPEST = 8;

/** The ids of another log, up to a place in it. */
interface Shared {
  readonly ids: EventIds;
  readonly through: number;
}

/**
 * The ids of a log, each with the place of its event. A copy shares those of the log that it was made of. A map that grows
 * copies all that is in it at once, of 100,000 ids for some milliseconds: of many ids there are many maps, each of which
 * grows by itself.
 */
export class EventIds {
  readonly #shared: readonly Shared[];
  #maps: Map<string, number>[] = [new Map()];
  #size = 0;

  constructor(shared: readonly Shared[] = []) {
    this.#shared = shared;
  }

  /** For a copy of the log up to a place in it. Undefined: it is a copy of a copy of so many that it needs its own. */
  upTo(through: number): EventIds | undefined {
    if (this.#shared.length === DEEPEST) return undefined;
    const older = this.#shared.map((one) => ({ ids: one.ids, through: Math.min(one.through, through) }));
    return new EventIds([...older, { ids: this, through }]);
  }

  /** Whether it was not there yet. */
  add(id: string, seq: number): boolean {
    for (const { ids, through } of this.#shared) if (ids.#own(id) <= through) return false;
    const map = this.#mapOf(id);
    if (map.has(id)) return false;
    map.set(id, seq);
    this.#size += 1;
    if (this.#size > ONE_MAP && this.#maps.length === 1) this.#part();
    return true;
  }

  /** One that was added here. */
  delete(id: string): void {
    if (this.#mapOf(id).delete(id)) this.#size -= 1;
  }

  #own(id: string): number {
    return this.#mapOf(id).get(id) ?? Number.POSITIVE_INFINITY;
  }

  #mapOf(id: string): Map<string, number> {
    // There are one or all.
    return this.#maps[this.#maps.length === 1 ? 0 : partOf(id)] as Map<string, number>;
  }

  #part(): void {
    const [all = new Map<string, number>()] = this.#maps;
    this.#maps = Array.from({ length: PARTS }, () => new Map<string, number>());
    for (const [id, seq] of all) this.#mapOf(id).set(id, seq);
  }
}

/** By what ids differ in: their ends. */
function partOf(id: string): number {
  const end = id.length - 1;
  let sum = 0;
  for (let at = Math.max(0, end - 2); at <= end; at++) sum = sum * 31 + id.charCodeAt(at);
  return sum % PARTS;
}
