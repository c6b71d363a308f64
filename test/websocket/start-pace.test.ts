import { expect, test } from 'vitest';
import { StartPace } from '../../src/host/connection/stream/start-pace.ts';

/** Blocks for so long: the work of a start. */
function work(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

/** The turn of the event loop in which each of so many starts, all asked for at once, began. */
async function turnsOf(pace: StartPace, count: number, ms: number): Promise<number[]> {
  let turn = 0;
  let isOver = false;
  const next = () => {
    turn++;
    if (!isOver) setImmediate(next);
  };
  setImmediate(next);
  const turns: number[] = [];
  const starts = Array.from({ length: count }, async (_, place) => {
    await pace.enter();
    turns[place] = turn;
    work(ms);
  });
  await Promise.all(starts);
  isOver = true;
  return turns;
}

test('a start that comes alone does not wait', () => {
  expect(new StartPace(2).enter()).toBeUndefined();
});

test('starts that take no time begin in one turn of the loop, in their order', async () => {
  const turns = await turnsOf(new StartPace(1000), 50, 0);
  expect(new Set(turns).size).toBeLessThanOrEqual(2);
  expect(turns).toEqual([...turns].sort((a, b) => a - b));
});

test('a start that takes the whole time of a turn of the loop is the only one in it', async () => {
  const turns = await turnsOf(new StartPace(2), 6, 3);
  expect(new Set(turns).size).toBe(6);
});

test('what was spent in a turn of the loop is no debt of the next', async () => {
  const pace = new StartPace(1);
  await turnsOf(pace, 3, 2);
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  expect(pace.enter()).toBeUndefined();
});
