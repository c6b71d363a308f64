/** An object that is no list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An object without members. */
export function isEmpty(value: object): boolean {
  for (const _ in value) return false;
  return true;
}
