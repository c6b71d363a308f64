/** An object that is no list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Of what was put into it first, so many go that `most` stay. */
export function keepNewest(kept: Map<unknown, unknown> | Set<unknown>, most: number): void {
  for (const oldest of kept.keys()) {
    if (kept.size <= most) return;
    kept.delete(oldest);
  }
}

/** An object without members. */
export function isEmpty(value: object): boolean {
  for (const _ in value) return false;
  return true;
}
