/** How items that wait for a consumer which is behind are joined, so that they stay few. */
export interface Joining<T> {
  /** The same for items that may be joined; undefined: the item stands by itself. */
  keyOf(item: T): string | undefined;
  /** Both as one, in the place of the first. Neither is changed: others may hold them. */
  join(waiting: T, next: T): T;
}
