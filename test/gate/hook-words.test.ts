import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { untilLate } from '../../src/base/until-aborted.ts';
import type { LifecycleInterceptor } from '../../src/contracts/index.ts';
import {
  fireHook,
  isHookResult,
  isTimed,
  MAX_TIMER_MS,
  pause,
  takeHookResult,
  untilAborted,
  validatedInTime,
} from '../../src/gate/index.ts';

const says = (value: unknown): LifecycleInterceptor => ({
  supportedHookPoints: () => [],
  fire: () => value as undefined,
});
const fired = (value: unknown, limits: Parameters<typeof fireHook>[3] = {} as never) =>
  fireHook(says(value), 'before_tool', {}, limits);

describe('what an interceptor says', () => {
  test.each([
    [{ action: 'proceed' }, true],
    [{ action: 'block' }, true],
    [{ action: 'allow' }, false],
    [{}, false],
    [null, false],
    ['proceed', false],
  ])('%j is a word: %s', (value, expected) => {
    expect(isHookResult(value)).toBe(expected);
  });

  test.each([undefined, null])('%s is nothing', (value) => {
    expect(takeHookResult('p', value)).toBeUndefined();
  });

  test('a word is passed on as it is', () => {
    for (const word of [{ action: 'proceed' }, { action: 'block', modifications: { a: 1 } }]) {
      expect(takeHookResult('p', word)).toEqual(word);
    }
  });

  test.each<[string, unknown, string]>([
    ['another word', { action: 'allow' }, 'a p hook said neither proceed nor block, but {"action":"allow"}'],
    ['a flag', true, 'but true'],
    ['a function', () => 1, 'but function'],
    ['a number without JSON', 1n, 'but something that is no JSON (bigint)'],
    ['changes that are none', { action: 'proceed', modifications: [1] }, 'the modifications of a p hook are no object'],
    ['a misspelt member', { action: 'proceed', modification: {} }, 'a p hook gave modification, which is not known'],
  ])('%s is refused', (_, value, message) => {
    expect(() => takeHookResult('p', value)).toThrow(
      expect.objectContaining({ code: 'E_HOOK_FAILED', message: expect.stringContaining(message) }),
    );
  });

  test.each<[string, object, string]>([
    [
      'before_tool',
      { action: 'proceed', modification: { args: {} } },
      'modification, which is not known; write modifications',
    ],
    ['before_tool', { action: 'proceed', args: {} }, 'args, which is not known; give nothing but action, reason,'],
    [
      'before_tool',
      { action: 'proceed', modifications: { arg: {} } },
      'modifications with arg, which is not known; write args',
    ],
    [
      'before_tool',
      { action: 'block', modifications: { resutl: 1 } },
      'modifications with resutl, which is not known; write result',
    ],
    [
      'after_tool',
      { action: 'proceed', modifications: { result: 1 } },
      'result, which is not known; give nothing but replacement',
    ],
    ['after_run', { action: 'proceed', modifications: { result: 1 } }, 'nothing can be changed so'],
  ])('ATK-L1 a %s hook that says %j has failed, and the member is named', (point, word, message) => {
    expect(() => takeHookResult(point, word)).toThrow(
      expect.objectContaining({ code: 'E_HOOK_FAILED', message: expect.stringContaining(message) }),
    );
  });

  test('ATK-L1 a word may bring _meta, and at a point that is not known any change', () => {
    expect(takeHookResult('before_tool', { action: 'proceed', _meta: { by: 'x' } })).toBeDefined();
    expect(takeHookResult('mine', { action: 'proceed', modifications: { anything: 1 } })).toBeDefined();
  });

  test('a long word is cut', () => {
    expect(() => takeHookResult('p', { action: 'x'.repeat(5000) })).toThrow(/^.{100,250}$/);
  });

  test('is waited for', async () => {
    expect(await fired({ action: 'block' })).toEqual({ action: 'block' });
    expect(await fired(Promise.resolve({ action: 'block' }))).toEqual({ action: 'block' });
    expect(await fired(undefined)).toBeUndefined();
    await expect(fired(Promise.resolve('yes'))).rejects.toMatchObject({ code: 'E_HOOK_FAILED' });
    await expect(fired(Promise.reject(new Error('away')))).rejects.toThrow('away');
  });
});

describe('time', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('an interceptor that does not answer is given up after its time, which is told', async () => {
    const late = fired(new Promise(() => {})).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await late).toMatchObject({ status: 'DEADLINE_EXCEEDED', message: expect.stringContaining('10000 ms') });
    const sooner = fired(new Promise(() => {}), { timeoutMs: 50, signal: undefined }).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(50);
    expect(await sooner).toMatchObject({ message: expect.stringContaining('50 ms') });
  });

  test('an answer leaves no timer behind, and no limit sets none', async () => {
    await fired(Promise.resolve({ action: 'proceed' }));
    expect(vi.getTimerCount()).toBe(0);
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const waiting = fired(promise, { timeoutMs: 0, signal: undefined });
    expect(vi.getTimerCount()).toBe(0);
    resolve({ action: 'block' });
    expect(await waiting).toEqual({ action: 'block' });
  });

  test('an abort ends the wait', async () => {
    for (const timeoutMs of [0, 100]) {
      const { signal } = { signal: AbortSignal.abort(new Error('stopped')) };
      await expect(fired(new Promise(() => {}), { timeoutMs, signal })).rejects.toThrow('stopped');
    }
  });

  test('a wait that is limited ends after its time, and leaves nothing behind', async () => {
    const endless = () => new Promise<never>(() => {});
    expect(untilLate('at once', 5, undefined)).toBe('at once');
    expect(await untilLate(Promise.resolve(1), 5, undefined)).toBe(1);
    expect(vi.getTimerCount()).toBe(0);
    const late = Promise.resolve(untilLate(endless(), 50, new AbortController().signal)).catch(
      (error: unknown) => error,
    );
    await vi.advanceTimersByTimeAsync(50);
    expect(await late).toEqual(new Error('there was no answer within 50 ms'));
    const { promise, resolve } = Promise.withResolvers<number>();
    const unlimited = untilLate(promise, 0, undefined);
    await vi.advanceTimersByTimeAsync(1_000_000);
    resolve(2);
    expect([await unlimited, vi.getTimerCount()]).toEqual([2, 0]);
    for (const limit of [0, 50]) {
      await expect(untilLate(endless(), limit, AbortSignal.abort(new Error('stopped')))).rejects.toThrow('stopped');
    }
  });

  test.each([
    [0, false],
    [-1, false],
    [1, true],
    [MAX_TIMER_MS, true],
    [MAX_TIMER_MS + 1, false],
    [Number.POSITIVE_INFINITY, false],
    [Number.NaN, false],
  ])('%s ms can run out: %s', (limit, expected) => {
    expect(isTimed(limit)).toBe(expected);
  });

  test('a pause ends after its time, or with the reason of an abort, and leaves nothing behind', async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const add = vi.spyOn(signal, 'addEventListener');
    const remove = vi.spyOn(signal, 'removeEventListener');
    const paused = pause(100, signal);
    await vi.advanceTimersByTimeAsync(99);
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(await paused).toBeUndefined();
    expect(remove.mock.calls.map(([, listener]) => listener)).toEqual(add.mock.calls.map(([, listener]) => listener));
    const stopped = pause(100, signal);
    controller.abort(new Error('stopped'));
    await expect(stopped).rejects.toThrow('stopped');
    expect(vi.getTimerCount()).toBe(0);
    await expect(pause(100, signal)).rejects.toThrow('stopped');
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('work that is waited for until an abort', () => {
  test('comes to what it comes to', async () => {
    const { signal } = new AbortController();
    for (const given of [undefined, signal]) {
      expect(await untilAborted(Promise.resolve(1), given)).toBe(1);
      expect(await untilAborted(1, given)).toBe(1);
      await expect(untilAborted(Promise.reject(new Error('no')), given)).rejects.toThrow('no');
    }
  });

  test('leaves no listener behind', async () => {
    const { signal } = new AbortController();
    const add = vi.spyOn(signal, 'addEventListener');
    const remove = vi.spyOn(signal, 'removeEventListener');
    await untilAborted(Promise.resolve(1), signal);
    expect(add).toHaveBeenCalledTimes(1);
    expect(remove.mock.calls[0]?.[1]).toBe(add.mock.calls[0]?.[1]);
  });

  test('is left by an abort, before it or meanwhile', async () => {
    await expect(untilAborted(new Promise(() => {}), AbortSignal.abort(new Error('before')))).rejects.toThrow('before');
    const controller = new AbortController();
    const waiting = untilAborted(new Promise(() => {}), controller.signal);
    controller.abort(new Error('meanwhile'));
    await expect(waiting).rejects.toThrow('meanwhile');
  });

  test('a check of arguments that nobody waits for any longer is a no; one that is done stands', async () => {
    const stopped = AbortSignal.abort(new Error('stopped'));
    const done = { ok: true as const, args: {} };
    expect(await validatedInTime(new Promise(() => {}), stopped)).toEqual({ ok: false, message: 'aborted: stopped' });
    expect(await validatedInTime(done, stopped)).toBe(done);
    expect(await validatedInTime(Promise.resolve(done), new AbortController().signal)).toBe(done);
  });
});
