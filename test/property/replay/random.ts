/** Numbers in [0, 1), the same for the same seed. */
export type Random = () => number;

export function randomOf(seed: number): Random {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** 53 bits of a text. */
export function hash(text: string): number {
  let a = 0xdeadbeef;
  let b = 0x41c6ce57;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    a = Math.imul(a ^ code, 2654435761);
    b = Math.imul(b ^ code, 1597334677);
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  return 4294967296 * (2097151 & b) + (a >>> 0);
}

export function below(random: Random, limit: number): number {
  return Math.floor(random() * limit);
}

/** Lets others run first: not at all, a microtask later or a turn of the event loop later. */
export async function pause(random: Random): Promise<void> {
  const roll = random();
  if (roll < 0.6) return;
  if (roll < 0.85) await Promise.resolve();
  else await new Promise((resolve) => setImmediate(resolve));
}
