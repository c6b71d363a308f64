/** Characters that count as one value. */
export const CHARACTERS = 64;

/** Values in a value, long texts for several. With a list of its own rather than recursion: any depth. */
export function valueSize(value: unknown): number {
  let size = 0;
  const open: unknown[] = [value];
  while (open.length > 0) {
    const each = open.pop();
    size += typeof each === 'string' ? 1 + each.length / CHARACTERS : 1;
    if (typeof each !== 'object' || each === null) continue;
    if (Array.isArray(each)) for (const item of each) open.push(item);
    else {
      for (const key of Object.keys(each)) {
        size += 1 + key.length / CHARACTERS;
        open.push((each as Record<string, unknown>)[key]);
      }
    }
  }
  return size;
}
