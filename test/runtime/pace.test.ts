import { describe, expect, test } from 'vitest';
import { eachInPieces, Pace } from '../../src/base/pace.ts';

/** A millisecond of work at least, however busy the machine is. */
function work(): void {
  const start = performance.now();
  while (performance.now() - start < 1);
}

/** Steps that are done between two rounds of the event loop: the most, until all the work is done. */
async function mostInARound(works: readonly ((step: () => void) => Promise<void>)[]): Promise<number> {
  let most = 0;
  let steps = 0;
  let isOver = false;
  const round = () => {
    most = Math.max(most, steps);
    steps = 0;
    if (!isOver) setImmediate(round);
  };
  setImmediate(round);
  const step = () => {
    work();
    steps++;
  };
  await Promise.all(works.map((one) => one(step)));
  isOver = true;
  await new Promise((resolve) => setImmediate(resolve));
  return most;
}

const paced = (length: number, done: number[] = [], at = 0) => {
  return async (step: () => void) => {
    const pace = new Pace();
    for (let n = 0; n < length; n++) {
      step();
      done[at] = n + 1;
      const rest = pace.rest();
      if (rest) await rest;
    }
  };
};

describe('ATT-B6 long work in pieces of five milliseconds', () => {
  test('several works at once share a piece: others of the process wait as long as for one', async () => {
    // Five of a millisecond, and one step of each work that begins in the round.
    expect(await mostInARound([paced(30)])).toBeLessThanOrEqual(6);
    expect(await mostInARound(Array.from({ length: 8 }, () => paced(12)))).toBeLessThanOrEqual(5 + 8);
  });

  test('each of them gets as much as the others, and ends', async () => {
    const done: number[] = [];
    const others = [1, 2].map((at) => paced(40, done, at));
    const first = async (step: () => void) => {
      await paced(40, done, 0)(step);
      expect(Math.min(...done)).toBeGreaterThan(20);
    };
    await mostInARound([first, ...others]);
    expect(done).toEqual([40, 40, 40]);
  });

  test('one after the other they share it as well', async () => {
    const most = await mostInARound([
      async (step) => {
        for (let n = 0; n < 12; n++) await paced(4)(step);
      },
    ]);
    expect(most).toBeLessThanOrEqual(6);
  });

  test('things of which each takes long are begun in such pieces, in order', async () => {
    const begun: number[] = [];
    const most = await mostInARound([
      async (step) => {
        const made = await eachInPieces(
          Array.from({ length: 40 }, (_, n) => n),
          (n) => {
            begun.push(n);
            step();
            return n * 2;
          },
        );
        expect(made).toEqual(begun.map((n) => n * 2));
      },
    ]);
    expect(begun).toEqual(Array.from({ length: 40 }, (_, n) => n));
    expect(most).toBeLessThanOrEqual(6);
  });
});
