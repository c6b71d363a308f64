import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { CoxswainError } from '../../src/contracts/index.ts';
import { childController, orAbort, underSignal } from '../../src/runtime/agent/abort.ts';
import { failClosed, HOOK_GRACE_MS, withGrace } from '../../src/runtime/hooks/hook-wait.ts';

const endless = () => new Promise<never>(() => {});

/** A signal, and how many listeners it has. */
function watched() {
  const controller = new AbortController();
  const { signal } = controller;
  const add = vi.spyOn(signal, 'addEventListener');
  const remove = vi.spyOn(signal, 'removeEventListener');
  const listeners = () => {
    const gone = new Set(remove.mock.calls.map(([, listener]) => listener));
    return add.mock.calls.filter(([, listener]) => !gone.has(listener)).length;
  };
  return { signal, listeners, abort: (reason: string) => controller.abort(new Error(reason)) };
}

const waits: [string, <T>(signal: AbortSignal, work: Promise<T>) => Promise<T>][] = [
  ['orAbort', orAbort],
  ['underSignal', (signal, work) => underSignal(signal, () => work)],
];

describe.each(waits)('%s', (_, wait) => {
  test('comes to what the work comes to, and leaves no listener', async () => {
    const { signal, listeners } = watched();
    expect(await wait(signal, Promise.resolve(1))).toBe(1);
    await expect(wait(signal, Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(listeners()).toBe(0);
  });

  test('is left by an abort, before it or meanwhile', async () => {
    const { signal, abort } = watched();
    const waiting = wait(signal, endless());
    abort('stopped');
    await expect(waiting).rejects.toThrow('stopped');
    await expect(wait(signal, endless())).rejects.toThrow('stopped');
  });

  test('what fails after an abort is nobody’s surprise', async () => {
    const unhandled = vi.fn();
    process.on('unhandledRejection', unhandled);
    const { signal, abort } = watched();
    const { promise, reject } = Promise.withResolvers<never>();
    const waiting = wait(signal, promise);
    abort('stopped');
    await expect(waiting).rejects.toThrow('stopped');
    const after = wait(signal, promise);
    await expect(after).rejects.toThrow('stopped');
    reject(new Error('late'));
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });
});

test('work under a signal of its own hears of an abort, can be told to end, and is not begun after one', async () => {
  const { signal, abort } = watched();
  let own: AbortSignal | undefined;
  const told = underSignal(signal, (given, end) => {
    own = given;
    end(new Error('enough'));
    return endless();
  });
  await expect(told).rejects.toThrow('enough');
  expect([own?.aborted, signal.aborted]).toEqual([true, false]);
  const begin = vi.fn((given: AbortSignal) => {
    own = given;
    return endless();
  });
  const aborted = underSignal(signal, begin);
  abort('stopped');
  await expect(aborted).rejects.toThrow('stopped');
  expect(own?.reason).toEqual(new Error('stopped'));
  await expect(underSignal(signal, begin)).rejects.toThrow('stopped');
  expect(begin).toHaveBeenCalledTimes(1);
});

test('a controller follows its parent until it is let go', () => {
  const { signal, listeners, abort } = watched();
  const [followed, let_] = [childController(signal), childController(signal)];
  let_.detach();
  expect(listeners()).toBe(1);
  abort('stopped');
  expect([followed.controller.signal.reason, let_.controller.signal.aborted]).toEqual([new Error('stopped'), false]);
  const late = childController(signal);
  expect(late.controller.signal.reason).toEqual(new Error('stopped'));
  late.detach();
});

describe('a hook that must not be skipped', () => {
  const { signal } = new AbortController();
  test('is a failure with its point where it fails, and keeps a code of its own', async () => {
    expect(await failClosed('before_x', signal, () => 1)).toBe(1);
    expect(await failClosed('before_x', signal, async () => 2)).toBe(2);
    const fail = (error: unknown) =>
      failClosed('before_x', signal, () => {
        throw error;
      });
    await expect(fail(new Error('away'))).rejects.toMatchObject({
      code: 'E_HOOK_FAILED',
      message: 'a before_x hook failed: away',
      cause: new Error('away'),
    });
    await expect(fail(new CoxswainError('FAILED_PRECONDITION', 'E_REFUSED', 'no'))).rejects.toMatchObject({
      code: 'E_REFUSED',
    });
    await expect(failClosed('p', AbortSignal.abort(new Error('stopped')), endless)).rejects.toThrow('stopped');
  });
});

describe('hooks at the end of a run', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('take their time as long as nobody ends it, and leave nothing behind', async () => {
    const { signal, listeners } = watched();
    const { promise, resolve } = Promise.withResolvers<number>();
    const waiting = withGrace(signal, promise);
    await vi.advanceTimersByTimeAsync(10 * HOOK_GRACE_MS);
    resolve(1);
    expect(await waiting).toBe(1);
    await expect(withGrace(signal, Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect([listeners(), vi.getTimerCount()]).toEqual([0, 0]);
  });

  test.each(['before', 'meanwhile'])('an abort %s leaves them two seconds', async (when) => {
    const { signal, abort } = watched();
    if (when === 'before') abort('stopped');
    const { promise, resolve } = Promise.withResolvers<number>();
    const [late, inTime] = [withGrace(signal, endless()).catch((error: unknown) => error), withGrace(signal, promise)];
    if (when === 'meanwhile') abort('stopped');
    await vi.advanceTimersByTimeAsync(HOOK_GRACE_MS - 1);
    resolve(1);
    expect(await inTime).toBe(1);
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(await late).toMatchObject({ status: 'DEADLINE_EXCEEDED', code: 'E_HOOK_FAILED' });
    expect(vi.getTimerCount()).toBe(0);
  });
});
