import { expect, test } from 'vitest';
import { LazyMap } from '../../src/session/index.ts';

/** The same numbers for the same seed. */
function numbers(seed: number): () => number {
  let x = seed * 2_654_435_761 + 1;
  return () => {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    return (x >>> 0) / 2 ** 32;
  };
}

test('whatever is done to it, it holds what a Map would', () => {
  for (let seed = 1; seed <= 300; seed++) {
    const random = numbers(seed);
    const lazy = new LazyMap<string, number>();
    const map = new Map<string, number>();
    for (let step = 0; step < 30; step++) {
      const key = 'abc'[Math.floor(random() * 3)] as string;
      const what = random();
      if (what < 0.45) {
        lazy.set(key, step);
        map.set(key, step);
      } else if (what < 0.8) expect(lazy.delete(key)).toBe(map.delete(key));
      else if (what < 0.85) {
        lazy.clear();
        map.clear();
      } else expect([...lazy]).toEqual([...map]);
      expect([lazy.size, lazy.has(key), lazy.get(key)], `seed ${seed}`).toEqual([map.size, map.has(key), map.get(key)]);
    }
    const seen: unknown[] = [];
    lazy.forEach((value, key) => void seen.push([key, value]));
    expect(seen).toEqual([...map]);
    expect([[...lazy.keys()], [...lazy.values()]]).toEqual([[...map.keys()], [...map.values()]]);
  }
});

test('entries that are added on the way are gone over, too; those that are taken out are not', () => {
  const lazy = new LazyMap<string, number>().set('a', 1);
  const seen: string[] = [];
  for (const key of lazy.keys()) {
    seen.push(key);
    if (key === 'a') lazy.set('b', 2).set('c', 3).delete('b');
  }
  expect(seen).toEqual(['a', 'c']);
});

test('emptied in the midst, nothing more is gone over', () => {
  const lazy = new LazyMap<string, number>().set('a', 1).set('b', 2);
  const seen: string[] = [];
  for (const [key] of lazy) {
    seen.push(key);
    lazy.clear();
  }
  expect(seen).toEqual(['a']);
  expect(lazy.size).toBe(0);
});
