import { describe, expect, test } from 'vitest';
import type { AgentEvent } from '../../src/contracts/index.ts';
import { EventStream, StreamQueue } from '../../src/session/index.ts';
import { collect } from '../runtime/kit.ts';

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

describe('a consumer that does not read', () => {
  const base = { timestamp: '2026-01-01T00:00:00.000Z', sessionId: 's', streamId: 'x', agentId: 'bot' };
  const progress = (n: number, more: object = {}): AgentEvent => ({
    ...base,
    id: `p${n}`,
    type: 'tool_update',
    requestId: 'c1',
    progress: n,
    ...more,
  });
  const piece = (n: number, messageId?: string): AgentEvent => ({
    ...base,
    id: `d${n}`,
    type: 'message',
    role: 'agent',
    partial: true,
    content: [{ type: 'text', text: `${n} ` }],
    ...(messageId === undefined ? {} : { _meta: { messageId, part: 0 } }),
  });
  const durable = (seq: number): AgentEvent => ({
    ...base,
    id: `u${seq}`,
    type: 'tool_update',
    requestId: 'c1',
    status: 'started',
    seq,
    cursor: `${seq}.0`,
  });

  /** What comes out of a stream into which all of these are pushed while nobody reads. */
  async function unread(events: readonly AgentEvent[]): Promise<AgentEvent[]> {
    const pushed = Promise.withResolvers<void>();
    const stream = new EventStream(
      'x',
      async (out) => {
        for (const event of events) out.push(event);
        pushed.resolve();
      },
      async () => {},
    );
    void stream.start();
    await pushed.promise;
    return collect(stream);
  }

  test('ATK3-13 has of the progress of one call the newest, with what was said last of each kind', async () => {
    const flood = Array.from({ length: 10_000 }, (_, n) => progress(n, n === 5_000 ? { total: 9 } : {}));
    const came = await unread(flood);
    expect(came.length).toBeLessThanOrEqual(65);
    expect(came.at(-1)).toMatchObject({ progress: 9_999, total: 9 });
    expect(flood[64]).toEqual(progress(64));
  });

  test('ATK3-13 has each event that is stored', async () => {
    const flood = Array.from({ length: 1_000 }, (_, n) => (n % 2 ? durable(n) : progress(n)));
    const came = await unread(flood);
    expect(came.filter(({ seq }) => seq !== undefined)).toHaveLength(500);
    expect(came.length).toBeLessThan(500 + 65);
  });

  test.each([['m1'], [undefined]])(
    'ATK2-30 has the pieces of a message as one piece, and each character once: of message %s',
    async (messageId) => {
      const flood = Array.from({ length: 10_000 }, (_, n) => piece(n, messageId));
      const came = await unread(flood);
      expect(came.length).toBeLessThanOrEqual(65);
      const words = (events: readonly AgentEvent[]) =>
        events
          .flatMap((event) => (event.type === 'message' ? event.content : []))
          .map((part) => 'text' in part && part.text);
      expect(words(came).join('')).toBe(words(flood).join(''));
    },
  );

  test('ATK2-30 pieces of several messages, side by side, are joined with their own', async () => {
    const flood = Array.from({ length: 3_000 }, (_, n) => piece(n, `m${n % 3}`));
    const came = await unread(flood);
    expect(came.length).toBeLessThanOrEqual(64 + 3);
    for (const which of [0, 1, 2]) {
      const own = came.filter(({ _meta }) => _meta?.messageId === `m${which}`);
      const text = own.flatMap((event) => (event.type === 'message' ? event.content : []));
      expect(text.map((part) => 'text' in part && part.text).join('')).toBe(
        Array.from({ length: 1_000 }, (_, n) => `${3 * n + which} `).join(''),
      );
    }
  });

  test('once it reads again, what comes is joined no more', async () => {
    const more = Promise.withResolvers<void>();
    const stream = new EventStream(
      'x',
      async (out) => {
        for (let n = 0; n < 200; n++) out.push(progress(n));
        await more.promise;
        for (let n = 200; n < 210; n++) out.push(progress(n));
      },
      async () => {},
    );
    void stream.start();
    for (let n = 0; n < 65; n++) await stream.next();
    more.resolve();
    const last = await collect(stream);
    expect(last.map((event) => event.type === 'tool_update' && event.progress)).toEqual(
      Array.from({ length: 10 }, (_, n) => 200 + n),
    );
  });
});
