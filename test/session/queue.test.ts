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

test('ATT-B6 whoever reads many items that are there lets others of the process in', async () => {
  const queue = new StreamQueue<number>(async (out) => {
    for (let n = 0; n < 1000; n++) out.push(n);
  });
  let turns = 0;
  let isOver = false;
  const look = () => {
    turns++;
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  const read: number[] = [];
  for await (const item of queue) read.push(item);
  isOver = true;
  expect(read).toEqual(Array.from({ length: 1000 }, (_, n) => n));
  expect(turns).toBeGreaterThan(5);
});

test('items that are made later come in their place, one by one, and only as far as they are read', async () => {
  const made: number[] = [];
  function* later(from: number, to: number) {
    for (let n = from; n < to; n++) {
      made.push(n);
      yield n;
    }
  }
  const queue = new StreamQueue<number>(async (out) => {
    out.push(0);
    out.pushLater(later(1, 4));
    out.pushLater(later(4, 4));
    out.push(4);
    await out.room(false);
    out.pushLater(later(5, 8));
    out.push(8);
  });
  // One waits for each of them before it is there.
  const early = [queue.next(), queue.next(), queue.next()];
  expect(await Promise.all(early)).toEqual([0, 1, 2].map((value) => ({ value, done: false })));
  expect(made).toEqual([1, 2]);
  const read: number[] = [];
  for await (const item of queue) {
    read.push(item);
    if (item === 6) break;
  }
  expect([read, made]).toEqual([
    [3, 4, 5, 6],
    [1, 2, 3, 5, 6],
  ]);
  expect(await queue.next()).toEqual({ value: undefined, done: true });
});

test('a failure comes behind the items that are made later', async () => {
  const queue = new StreamQueue<number>(async (out) => {
    out.pushLater([1, 2]);
    throw new Error('broken');
  });
  expect(await queue.next()).toEqual({ value: 1, done: false });
  expect(await queue.next()).toEqual({ value: 2, done: false });
  await expect(queue.next()).rejects.toThrow('broken');
});
