/** Characters that count as one value. */
export const CHARACTERS = 64;

/** Values in a value, long texts for several. */
export function valueSize(value: unknown): number {
  if (typeof value === 'string') return 1 + value.length / CHARACTERS;
  if (typeof value !== 'object' || value === null) return 1;
  let size = 1;
  if (Array.isArray(value)) for (const item of value) size += valueSize(item);
  else {
    for (const key of Object.keys(value)) {
      size += 1 + key.length / CHARACTERS + valueSize((value as Record<string, unknown>)[key]);
    }
  }
  return size;
}
