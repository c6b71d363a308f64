import { describe, expect, test } from 'vitest';
import { eachInPieces } from '../../src/base/pace.ts';

/** A millisecond of work at least, however busy the machine is. */
function work(): void {
  const start = performance.now();
  while (performance.now() - start < 1);
}

/** Steps that are done between two rounds of the event loop: the most, until all the work is done. */
async function mostInARound(all: (step: () => void) => Promise<void>): Promise<number> {
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
  await all(step);
  isOver = true;
  await new Promise((resolve) => setImmediate(resolve));
  return most;
}

describe('ATT-B6 long work in pieces of five milliseconds', () => {
  test('things of which each takes long are begun in such pieces, in order', async () => {
    const begun: number[] = [];
    const most = await mostInARound(async (step) => {
      const made = await eachInPieces(
        Array.from({ length: 40 }, (_, n) => n),
        (n) => {
          begun.push(n);
          step();
          return n * 2;
        },
      );
      expect(made).toEqual(begun.map((n) => n * 2));
    });
    expect(begun).toEqual(Array.from({ length: 40 }, (_, n) => n));
    expect(most).toBeLessThanOrEqual(6);
  });
});
