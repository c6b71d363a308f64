import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { ServerLimits } from '../../src/host/connection/protocol/limits.ts';
import { DEFAULT_LIMITS, serverLimits } from '../../src/host/connection/protocol/limits.ts';
import type { Transport } from '../../src/host/connection/protocol/transport.ts';
import { BackPressure } from '../../src/host/connection/stream/back-pressure.ts';
import { IdempotencyKeys } from '../../src/host/connection/stream/idempotency.ts';

describe('keys of changes', () => {
  const limits = { keyMs: 1000, maxKeys: 3 };
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** Counts how often something was done. */
  function doing() {
    const keys = new IdempotencyKeys(limits);
    let count = 0;
    const run = (key: string | undefined, body: unknown = {}, isInLog = false, act = async () => ++count) =>
      keys.run(key, body, isInLog, act);
    return { run, count: () => count };
  }

  test('the same request is done once, as long as its key is remembered', async () => {
    const { run } = doing();
    expect(await Promise.all([run('k', { a: 1, b: 2 }), run('k', { b: 2, a: 1 })])).toEqual([1, 1]);
    vi.advanceTimersByTime(1000);
    expect(await run('k', { a: 1, b: 2 })).toBe(1);
    vi.advanceTimersByTime(1);
    expect(await run('k', { a: 1, b: 2 })).toBe(2);
    expect([await run(undefined), await run(undefined)]).toEqual([3, 4]);
  });

  test('another one under the same key is a conflict', async () => {
    const { run } = doing();
    await run('k', 1);
    await expect(run('k', 2)).rejects.toMatchObject({ code: 'E_IDEMPOTENCY_CONFLICT' });
    vi.advanceTimersByTime(1001);
    expect(await run('k', 2)).toBe(2);
  });

  test('what was refused may be asked again', async () => {
    const { run } = doing();
    await expect(run('k', 1, false, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await run('k', 2)).toBe(1);
  });

  test('there is room for so many: those of the log go first, others in their time', async () => {
    const { run, count } = doing();
    await run('a');
    await run('b', {}, true);
    await run('c');
    await run('d');
    expect(await run('a')).toBe(1);
    expect(await run('d')).toBe(4);
    await expect(run('e')).rejects.toMatchObject({ code: 'E_RATE_LIMIT', retryable: true });
    vi.advanceTimersByTime(1001);
    expect([await run('e'), count()]).toEqual([5, 5]);
  });

  test('what is not answered yet is not forgotten', async () => {
    const { run } = doing();
    const open = Promise.withResolvers<number>();
    const first = run('a', {}, true, () => open.promise);
    await run('b');
    await run('c');
    await expect(run('d')).rejects.toMatchObject({ code: 'E_RATE_LIMIT' });
    vi.advanceTimersByTime(5000);
    open.resolve(7);
    expect([await first, await run('a', {}, true)]).toEqual([7, 7]);
  });
});

describe('a client that asks faster than it reads', () => {
  const limits = { ...DEFAULT_LIMITS, highWaterBytes: 100, maxUnsentBytes: 1000, stallMs: 50 };
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function client() {
    const state = { bufferedAmount: 0, unwritten: 0, pauses: 0, resumes: 0 };
    const transport = Object.assign(Object.create({}), {
      pause: () => void state.pauses++,
      resume: () => void state.resumes++,
    });
    for (const name of ['bufferedAmount', 'unwritten'] as const) {
      Object.defineProperty(transport, name, { get: () => state[name] });
    }
    const slow = vi.fn();
    return { state, slow, pressure: new BackPressure(transport as Transport, limits, slow) };
  }

  test('is not read from until it has read itself', async () => {
    const { state, slow, pressure } = client();
    state.bufferedAmount = 99;
    expect(pressure.room()).toBeUndefined();
    state.bufferedAmount = 100;
    const room = pressure.room();
    expect([room, state.pauses]).toEqual([pressure.room(), 1]);
    pressure.release();
    expect(await room).toBeUndefined();
    pressure.release();
    expect([state.resumes, vi.getTimerCount(), slow.mock.calls.length]).toEqual([1, 0, 0]);
  });

  test('is too slow where it makes no progress, and not where it makes some', () => {
    const { state, slow, pressure } = client();
    Object.assign(state, { bufferedAmount: 500, unwritten: 500 });
    pressure.sent();
    expect(state.pauses).toBe(1);
    state.unwritten = 499;
    vi.advanceTimersByTime(50);
    expect(slow).not.toHaveBeenCalled();
    vi.advanceTimersByTime(50);
    expect(slow).toHaveBeenCalledTimes(1);
  });

  test('is too slow at once where more waits than may', () => {
    const { state, slow, pressure } = client();
    state.bufferedAmount = 1000;
    pressure.sent();
    expect(slow).not.toHaveBeenCalled();
    state.bufferedAmount = 1001;
    pressure.sent();
    expect(slow).toHaveBeenCalledTimes(1);
    pressure.release();
  });
});

describe('limits of a server', () => {
  test('are the defaults with what is given', () => {
    expect(serverLimits()).toEqual(DEFAULT_LIMITS);
    expect(serverLimits({ window: 1, keyMs: undefined } as unknown as ServerLimits)).toEqual({
      ...DEFAULT_LIMITS,
      window: 1,
    });
    expect(serverLimits({ heartbeatMs: 2 ** 31 - 1, keyMs: 2 ** 40, highWaterBytes: 65_536 })).toMatchObject({
      keyMs: 2 ** 40,
    });
  });

  test.each<[object, string]>([
    [{ windows: 1 }, 'there is no limit windows'],
    [{ toString: 1 }, 'there is no limit toString'],
    [{ window: 0 }, 'limits.window is'],
    [{ window: 1.5 }, 'limits.window is'],
    [{ window: '5' }, 'limits.window is'],
    ...['initTimeoutMs', 'heartbeatMs', 'stallMs', 'idleMs', 'closeMs'].map((name): [object, string] => [
      { [name]: 2 ** 31 },
      `limits.${name} is 2147483648; a timer reaches`,
    ]),
    [{ highWaterBytes: 65_535 }, 'at least 65536'],
  ])('%j is refused', (given, message) => {
    expect(() => serverLimits(given as Partial<ServerLimits>)).toThrow(
      expect.objectContaining({ code: 'E_BAD_INPUT', message: expect.stringContaining(message) }),
    );
  });
});
