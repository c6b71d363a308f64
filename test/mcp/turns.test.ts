import { expect, test } from 'vitest';
import { Turns } from '../../src/host/mcp/http/turns.ts';

const stays = new AbortController().signal;

test('ATT-B8 whoever goes while they wait takes no place, and the next one gets it', async () => {
  const turns = new Turns(1, 2);
  const first = await turns.take('ben', stays);
  const gone = new AbortController();
  const second = turns.take('ben', gone.signal);
  const third = turns.take('ben', stays);
  expect([turns.isFull('ben'), turns.isFull('anna')]).toEqual([true, false]);
  gone.abort();
  expect([await second, turns.isFull('ben')]).toEqual([undefined, false]);
  first?.();
  const given = await third;
  expect(given).toBeTypeOf('function');
  given?.();
  given?.();
  expect(await turns.take('ben', gone.signal)).toBeUndefined();
  // Nothing was given back twice: one is in, the next waits.
  const again = await turns.take('ben', stays);
  const late = turns.take('ben', stays);
  expect(await Promise.race([late, Promise.resolve('waits')])).toBe('waits');
  again?.();
  expect(await late).toBeTypeOf('function');
});

test('a place that is given back twice makes room for one', async () => {
  const turns = new Turns(2, 4);
  const first = await turns.take('ben', stays);
  await turns.take('ben', stays);
  first?.();
  first?.();
  expect(await turns.take('ben', stays)).toBeTypeOf('function');
  const late = turns.take('ben', stays);
  expect(await Promise.race([late, Promise.resolve('waits')])).toBe('waits');
});
