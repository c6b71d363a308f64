const noEntries: ReadonlyMap<never, never> = new Map<never, never>();
const noItems: ReadonlySet<never> = new Set<never>();

/** A map that takes no room while it is empty: a session has dozens of them, and most never hold anything. */
export class LazyMap<K, V> implements ReadonlyMap<K, V> {
  #map: Map<K, V> | undefined;

  get size(): number {
    return this.#map?.size ?? 0;
  }

  get(key: K): V | undefined {
    return this.#map?.get(key);
  }

  has(key: K): boolean {
    return this.#map?.has(key) ?? false;
  }

  set(key: K, value: V): this {
    this.#map ??= new Map();
    this.#map.set(key, value);
    return this;
  }

  delete(key: K): boolean {
    return this.#map?.delete(key) ?? false;
  }

  clear(): void {
    this.#map?.clear();
  }

  keys(): MapIterator<K> {
    return (this.#map ?? noEntries).keys();
  }

  values(): MapIterator<V> {
    return (this.#map ?? noEntries).values();
  }

  entries(): MapIterator<[K, V]> {
    return (this.#map ?? noEntries).entries();
  }

  forEach(each: (value: V, key: K, map: ReadonlyMap<K, V>) => void): void {
    for (const [key, value] of this) each(value, key, this);
  }

  [Symbol.iterator](): MapIterator<[K, V]> {
    return this.entries();
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
