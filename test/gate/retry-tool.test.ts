import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { AnyTool } from '../../src/contracts/index.ts';
import { CoxswainError } from '../../src/contracts/index.ts';
import type { RetryToolOptions } from '../../src/gate/index.ts';
import { pause, retryTool, runHandler } from '../../src/gate/index.ts';
import { approved, contextOf, toolOf } from './kit.ts';

const readOnly = { annotations: { readOnly: true } };

/** A tool that fails so often before it says `done`, and its waits. */
function failing(times: number, options: RetryToolOptions = {}, error: () => unknown = () => new Error('away')) {
  const waits: number[] = [];
  let runs = 0;
  const tool: AnyTool = {
    ...toolOf(() => {
      if (++runs <= times) throw error();
      return 'done';
    }),
    ...readOnly,
  };
  const sleep = async (ms: number) => void waits.push(ms);
  const made = retryTool(tool, { sleep, random: () => 1, ...options });
  const call = async (signal?: AbortSignal) =>
    runHandler(await approved(), made, contextOf('c1', signal ? { signal } : {}));
  return { call, waits, runs: () => runs };
}

describe('a tool that is tried again', () => {
  test('is tried twice more by default, with delays that double', async () => {
    const { call, waits, runs } = failing(2);
    expect(await call()).toBe('done');
    expect([runs(), waits]).toEqual([3, [200, 400]]);
    await expect(failing(3).call()).rejects.toThrow('away');
  });

  test('waits for half of a delay at least, and for no longer than the longest', async () => {
    const least = failing(2, { random: () => 0, initialDelayMs: 100 });
    expect([await least.call(), least.waits]).toEqual(['done', [50, 100]]);
    const most = failing(4, { retries: 4, initialDelayMs: 100, maxDelayMs: 300 });
    expect([await most.call(), most.waits]).toEqual(['done', [100, 200, 300, 300]]);
    const long = failing(8, { retries: 8 });
    expect([await long.call(), long.waits.at(-1)]).toEqual(['done', 5000]);
  });

  test('is not tried again where that is not wanted', async () => {
    for (const options of [{ retries: 0 }, { retryIf: () => false }]) {
      const { call, runs } = failing(1, options);
      await expect(call()).rejects.toThrow('away');
      expect(runs()).toBe(1);
    }
  });

  test('is tried again after an error with a code only if that one may pass', async () => {
    const coded = (retryable: boolean) => () => new CoxswainError('UNAVAILABLE', 'E_TOOL', 'coded', { retryable });
    expect(await failing(1, {}, coded(true)).call()).toBe('done');
    await expect(failing(1, {}, coded(false)).call()).rejects.toThrow('coded');
  });

  test('is not tried again after an abort', async () => {
    const { call, runs, waits } = failing(1);
    await expect(call(AbortSignal.abort())).rejects.toThrow('away');
    expect([runs(), waits]).toEqual([1, []]);
  });

  test('shows what its attempts show, and keeps all but its handler', async () => {
    const tool = {
      ...toolOf(async function* () {
        yield 'half';
        return 'done';
      }),
      ...readOnly,
      needsApproval: true,
    } as AnyTool;
    const shown: unknown[] = [];
    const progress = (update: unknown) => void shown.push(update);
    const made = retryTool(tool);
    expect(await runHandler(await approved(), made, contextOf('c1', { progress }))).toBe('done');
    expect(shown).toEqual(['half']);
    const { execute: _, ...rest } = tool;
    expect(made).toEqual({ ...rest, execute: expect.any(Function) });
  });

  test.each<[string, object, string | undefined]>([
    ['says nothing of itself', {}, 'may not run twice'],
    ['may not run twice', { annotations: { readOnly: false, idempotent: false } }, 'may not run twice'],
    ['is idempotent', { annotations: { idempotent: true } }, undefined],
    ['only reads', readOnly, undefined],
    ['is long-running', { annotations: { readOnly: true, longRunning: true } }, 'longRunning'],
    ['has no handler', { ...readOnly, execute: undefined }, 'no handler'],
  ])('%s', (_, extra, message) => {
    const make = () => retryTool({ ...toolOf(() => 1), ...extra } as AnyTool);
    if (message === undefined) expect(make()).toMatchObject({ name: 'pay' });
    else
      expect(make).toThrow(expect.objectContaining({ code: 'E_BAD_INPUT', message: expect.stringContaining(message) }));
  });
});

test.each([2 ** 31, 2 ** 33])('ATK7-14 a pause of %d milliseconds is as long as that', async (ms) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  let isOver = false;
  const paused = pause(ms, new AbortController().signal).then(() => {
    isOver = true;
  });
  await vi.advanceTimersByTimeAsync(ms - 1);
  expect(isOver).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  await paused;
  const controller = new AbortController();
  const endless = pause(Number.POSITIVE_INFINITY, controller.signal);
  await vi.advanceTimersByTimeAsync(2 ** 33);
  controller.abort(new Error('enough'));
  await expect(endless).rejects.toThrow('enough');
  expect(vi.getTimerCount()).toBe(0);
});
