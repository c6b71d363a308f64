import { expect, test } from 'vitest';
import { Admission } from '../../src/runtime/index.ts';

/** Enters as often as asked, and says in which turn of the event loop each was let in. */
async function turnsOf(admission: Admission, times: number): Promise<number[]> {
  let turn = 0;
  let isOver = false;
  const count = () => {
    turn++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const entering = Array.from({ length: times }, async () => {
    const wait = admission.enter();
    if (wait) await wait;
    return turn;
  });
  const turns = await Promise.all(entering);
  isOver = true;
  return turns;
}

test('whoever comes alone does not wait', () => {
  expect(new Admission().enter()).toBeUndefined();
});

test('a crowd is let in over many turns of the event loop, in the order of arrival, and nobody is forgotten', async () => {
  const turns = await turnsOf(new Admission(), 100);
  expect(turns).toHaveLength(100);
  expect(turns).toEqual(turns.toSorted((a, b) => a - b));
  const perTurn = Object.values(Object.groupBy(turns, String)).map((all = []) => all.length);
  expect(Math.max(...perTurn)).toBeLessThanOrEqual(2);
});

test('those who were let in may take for ever: nobody waits for them', async () => {
  const admission = new Admission();
  const never = async () => {
    await admission.enter();
    await new Promise(() => {});
  };
  for (let n = 0; n < 20; n++) void never();
  const wait = admission.enter();
  expect(wait).toBeInstanceOf(Promise);
  await wait;
});

test('once a crowd is through, the next one does not wait', async () => {
  const admission = new Admission();
  await turnsOf(admission, 10);
  await new Promise((resolve) => setImmediate(resolve));
  expect(admission.enter()).toBeUndefined();
});
