/** An object without members. */
export function isEmpty(value: object): boolean {
  for (const _ in value) return false;
  return true;
}
