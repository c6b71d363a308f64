const noEntries: ReadonlyMap<never, never> = new Map<never, never>();
const noItems: ReadonlySet<never> = new Set<never>();

/** An entry that is alone in its map. */
class Alone<K, V> {
  readonly key: K;
  value: V;

  constructor(key: K, value: V) {
    this.key = key;
    this.value = value;
  }
}

/**
 * A map that takes no room while it is empty, and little with one entry: a session has dozens of them, and most never
 * hold more. Keys are texts, objects, or numbers that equal themselves. Whoever goes over its entries gets a Map's iterators.
 */
export class LazyMap<K extends string | number | object, V> implements ReadonlyMap<K, V> {
  #held: Alone<K, V> | Map<K, V> | undefined;

  get size(): number {
    const held = this.#held;
    return held instanceof Alone ? 1 : (held?.size ?? 0);
  }

  get(key: K): V | undefined {
    const held = this.#held;
    if (held instanceof Alone) return held.key === key ? held.value : undefined;
    return held?.get(key);
  }

  has(key: K): boolean {
    const held = this.#held;
    return held instanceof Alone ? held.key === key : (held?.has(key) ?? false);
  }

  set(key: K, value: V): this {
    const held = this.#held;
    if (held === undefined) this.#held = new Alone(key, value);
    else if (held instanceof Alone && held.key === key) held.value = value;
    else LazyMap.#mapOf(this).set(key, value);
    return this;
  }

  delete(key: K): boolean {
    const held = this.#held;
    if (!(held instanceof Alone)) return held?.delete(key) ?? false;
    if (held.key !== key) return false;
    this.#held = undefined;
    return true;
  }

  clear(): void {
    // Whoever is in the midst of a map's entries sees it empty.
    if (this.#held instanceof Map) this.#held.clear();
    else this.#held = undefined;
  }

  keys(): MapIterator<K> {
    return (this.#held ? LazyMap.#mapOf(this) : noEntries).keys();
  }

  values(): MapIterator<V> {
    return (this.#held ? LazyMap.#mapOf(this) : noEntries).values();
  }

  entries(): MapIterator<[K, V]> {
    return (this.#held ? LazyMap.#mapOf(this) : noEntries).entries();
  }

  forEach(each: (value: V, key: K, map: ReadonlyMap<K, V>) => void): void {
    for (const [key, value] of this) each(value, key, this);
  }

  [Symbol.iterator](): MapIterator<[K, V]> {
    return this.entries();
  }

  /** As a map, from now on: who goes over its entries may add to them on the way. Static: a private method of its own takes room in each. */
  static #mapOf<K extends string | number | object, V>(lazy: LazyMap<K, V>): Map<K, V> {
    const held = lazy.#held;
    if (held instanceof Map) return held;
    const map = new Map<K, V>();
    if (held) map.set(held.key, held.value);
    lazy.#held = map;
    return map;
  }
}

/** A set that takes no room while it is empty. */
export class LazySet<T> {
  #set: Set<T> | undefined;

  get size(): number {
    return this.#set?.size ?? 0;
  }

  has(item: T): boolean {
    return this.#set?.has(item) ?? false;
  }

  add(item: T): this {
    this.#set ??= new Set();
    this.#set.add(item);
    return this;
  }

  delete(item: T): boolean {
    return this.#set?.delete(item) ?? false;
  }

  clear(): void {
    this.#set?.clear();
  }

  [Symbol.iterator](): SetIterator<T> {
    return (this.#set ?? noItems).values();
  }
}
