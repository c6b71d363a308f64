import { expect, test } from 'vitest';
import { StreamQueue } from '../../src/session/index.ts';

test('next() calls that come together are answered in their order, and all of them', async () => {
  let end = () => {};
  const queue = new StreamQueue<number>(async (out) => {
    await Promise.resolve();
    for (const item of [1, 2]) out.push(item);
    await new Promise<void>((resolve) => {
      end = resolve;
    });
  });
  const four = [queue.next(), queue.next(), queue.next(), queue.next()];
  expect(await four[0]).toEqual({ value: 1, done: false });
  expect(await four[1]).toEqual({ value: 2, done: false });
  end();
  expect(await Promise.all(four.slice(2))).toEqual([
    { value: undefined, done: true },
    { value: undefined, done: true },
  ]);
});

test('a failure reaches the first that waits; the stream is over for the others', async () => {
  const queue = new StreamQueue<number>(() => Promise.reject(new Error('broken')));
  const [first, second] = [queue.next(), queue.next()];
  await expect(first).rejects.toThrow('broken');
  expect(await second).toEqual({ value: undefined, done: true });
});

test('a durable item holds its producer until more is asked for; 64 partial ones do not', async () => {
  const made: string[] = [];
  const queue = new StreamQueue<string>(async (out) => {
    for (let n = 0; n < 100; n++) {
      made.push(`partial ${n}`);
      out.push(`partial ${n}`);
      await out.room(true);
    }
  });
  await queue.next();
  await new Promise((resolve) => setImmediate(resolve));
  expect(made).toHaveLength(65);
  const durable = new StreamQueue<number>(async (out) => {
    for (const item of [1, 2, 3]) {
      made.push(String(item));
      out.push(item);
      await out.room(false);
    }
  });
  made.length = 0;
  await durable.next();
  await new Promise((resolve) => setImmediate(resolve));
  expect(made).toEqual(['1']);
  await durable.next();
  await new Promise((resolve) => setImmediate(resolve));
  expect(made).toEqual(['1', '2']);
});
