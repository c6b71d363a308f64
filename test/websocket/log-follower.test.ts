import { describe, expect, test, vi } from 'vitest';
import type { AgentEvent, AgentSession } from '../../src/contracts/index.ts';
import { LogFollower } from '../../src/host/connection/stream/log-follower.ts';

const event = (id: string, seq: number, more: object = {}) =>
  ({ id, type: 'message', seq, cursor: `${seq}.0`, streamId: 's', ...more }) as unknown as AgentEvent;
const end = (id: string, seq: number, streamId = 's') => event(id, seq, { type: 'stream_end', streamId });

/** A session whose log says what a test pushes, when it pushes it. */
async function following(...stored: AgentEvent[]) {
  const waiting: ((next: IteratorResult<AgentEvent>) => void)[] = [];
  const failing: ((error: Error) => void)[] = [];
  const ahead: AgentEvent[] = [];
  const asked: unknown[] = [];
  const log = {
    next: () =>
      new Promise<IteratorResult<AgentEvent>>((resolve, reject) => {
        const value = ahead.shift();
        if (value) resolve({ done: false, value });
        else {
          waiting.push(resolve);
          failing.push(reject);
        }
      }),
    return: async () => ({ done: true as const, value: undefined }),
    [Symbol.asyncIterator]: () => log,
  };
  const session = {
    events(options?: { live?: boolean }) {
      asked.push(options);
      if (options?.live) return log;
      return (async function* () {
        yield* stored;
      })();
    },
  } as unknown as AgentSession;
  const out: string[] = [];
  const failed = vi.fn();
  const follower = new LogFollower(session, ({ id }) => out.push(id), failed);
  await follower.start();
  return {
    follower,
    out,
    failed,
    asked,
    async logs(...events: AgentEvent[]) {
      for (const value of events) {
        const resolve = waiting.shift();
        failing.shift();
        if (resolve) resolve({ done: false, value });
        else ahead.push(value);
        await Promise.resolve();
      }
      // What is not of a stream comes out once the turn of the event loop is over.
      for (let turns = 0; turns < 4; turns++) await new Promise((resolve) => setImmediate(resolve));
    },
    async breaks(error: Error) {
      failing.shift()?.(error);
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

describe('the log of a session and its streams, in one order', () => {
  test('follows the log from its end on, and shows nothing of before once more', async () => {
    const { follower, out, asked, logs } = await following(event('a', 1), event('b', 2));
    expect(asked).toEqual([undefined, { after: '2.0', live: true }]);
    expect(follower.cursor).toBe('2.0');
    follower.begin('s');
    expect(follower.see(event('a', 1))).toBeUndefined();
    await logs(event('c', 3));
    expect(out).toEqual(['c']);
    expect(follower.cursor).toBe('3.0');
  });

  test('what the log has shown first comes out once, with what was before it', async () => {
    const { follower, out, logs } = await following();
    follower.begin('s');
    const shown = follower.see(event('mine', 2));
    await logs(event('other', 1), event('mine', 2));
    await shown;
    expect(follower.see(event('mine', 2))).toBeUndefined();
    await logs(event('last', 3));
    expect(out).toEqual(['other', 'mine', 'last']);
  });

  test('a delta is in no log, and waits for nothing', async () => {
    const { follower, out } = await following();
    follower.begin('s');
    const delta = { id: 'd', type: 'message', partial: true, streamId: 's' } as unknown as AgentEvent;
    expect(follower.see(delta)).toBeUndefined();
    expect(out).toEqual(['d']);
  });

  test('what the log is late with is shown in time, and not again when the log has it', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    try {
      const { follower, out, logs } = await following();
      follower.begin('s');
      const shown = follower.see(event('early', 1));
      expect(shown).toBeInstanceOf(Promise);
      expect(out).toEqual([]);
      await vi.advanceTimersByTimeAsync(250);
      await shown;
      expect(out).toEqual(['early']);
      await logs(event('early', 1), event('next', 2));
      expect(out).toEqual(['early', 'next']);
    } finally {
      vi.useRealTimers();
    }
  });

  test('the end of a stream that runs is its own to show; that of another is not held back', async () => {
    const { follower, out, logs } = await following();
    follower.begin('s');
    await logs(event('a', 1), end('theirs', 2, 'other'), end('ours', 3), event('behind', 4));
    expect(out).toEqual(['a', 'theirs']);
    expect(follower.see(end('ours', 3))).toBeUndefined();
    expect(out).toEqual(['a', 'theirs', 'ours']);
    follower.end();
    expect(out).toEqual(['a', 'theirs', 'ours', 'behind']);
  });

  test('once no stream runs the log alone is shown, also the end of the stream that was the last', async () => {
    const { follower, out, logs } = await following();
    follower.begin('s');
    follower.end();
    await logs(event('a', 1), end('ours', 2), event('b', 3));
    expect(out).toEqual(['a', 'ours', 'b']);
  });

  test('of two streams, what is held comes out at the end of the second', async () => {
    const { follower, out, logs } = await following();
    follower.begin('s');
    follower.begin('t');
    await logs(end('ours', 1, 't'));
    follower.end();
    expect(out).toEqual([]);
    follower.end();
    expect(out).toEqual(['ours']);
  });

  test('events of one place in the log are told apart by their ids', async () => {
    const { follower, out, logs } = await following();
    await logs(event('a', 1), event('b', 1));
    follower.begin('s');
    expect(follower.see(event('b', 1))).toBeUndefined();
    expect(follower.see(event('a', 1))).toBeUndefined();
    const third = follower.see(event('c', 1));
    await logs(event('c', 1));
    await third;
    expect(out).toEqual(['a', 'b', 'c']);
  });

  test('a log that breaks is told, unless nobody wants it any more', async () => {
    const broken = new Error('the store is away');
    const one = await following();
    await one.breaks(broken);
    expect(one.failed).toHaveBeenCalledExactlyOnceWith(broken);
    // Nothing waits for a log that says no more.
    one.follower.begin('s');
    await one.follower.see(event('a', 1));
    expect(one.out).toEqual(['a']);
    const other = await following();
    await other.follower.stop();
    await other.breaks(broken);
    expect(other.failed).not.toHaveBeenCalled();
  });
});
