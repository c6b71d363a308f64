import { getEventListeners } from 'node:events';
import { describe, expect, test, vi } from 'vitest';
import type { AnyTool, ToolCallContext } from '../../src/contracts/index.ts';
import { CoxswainError } from '../../src/contracts/index.ts';
import type { RunBounds } from '../../src/gate/index.ts';
import { decide, ensureValidator, runInTurn, runWithin } from '../../src/gate/index.ts';

async function ended(execute: AnyTool['execute'], bounds: Partial<RunBounds> = {}) {
  await ensureValidator();
  const described = { name: 't', description: 'd', inputSchema: {} };
  const tool = { ...described, execute } as AnyTool;
  const call = { callId: 'c', args: {}, tool: described, source: 'host', agentPath: [], sessionId: 's' };
  const verdict = await decide(call, {
    validate: async (args) => ({ ok: true, args: args as Record<string, unknown> }),
  });
  if (verdict.kind !== 'run') throw new Error(verdict.kind);
  const told: unknown[] = [];
  const context = {
    callId: 'c',
    signal: new AbortController().signal,
    progress() {},
  } as unknown as ToolCallContext<never>;
  const rest = { timeoutMs: undefined, signals: [], end: (reason: unknown) => void told.push(reason), ...bounds };
  return { end: await runWithin(verdict.decision, tool, context, rest), told };
}

describe('a run of a handler', () => {
  test('comes to a value, or to what it threw', async () => {
    expect((await ended(() => 7)).end).toEqual({ kind: 'value', value: 7 });
    const error = new Error('no');
    expect((await ended(() => Promise.reject(error))).end).toEqual({ kind: 'threw', error });
  });

  test('of a long-running tool has begun where its first word is none', async () => {
    expect((await ended(() => undefined, { firstOnly: true })).end).toEqual({ kind: 'begun' });
    expect((await ended(() => 'soon', { firstOnly: true })).end).toEqual({ kind: 'value', value: 'soon' });
    expect((await ended(() => undefined)).end).toEqual({ kind: 'value', value: undefined });
  });

  test('that takes too long is late, and its handler is told', async () => {
    vi.useFakeTimers();
    try {
      const run = ended(() => new Promise(() => {}), { timeoutMs: 50 });
      await vi.advanceTimersByTimeAsync(50);
      const { end, told } = await run;
      expect(end).toMatchObject({ kind: 'late', error: { code: 'E_TOOL', status: 'DEADLINE_EXCEEDED' } });
      expect(told).toEqual([end.kind === 'late' && end.error]);
    } finally {
      vi.useRealTimers();
    }
  });

  test('that throws what looks like a late end has thrown it', async () => {
    const error = new CoxswainError('DEADLINE_EXCEEDED', 'E_TOOL', 'mine');
    expect((await ended(() => Promise.reject(error))).end).toEqual({ kind: 'threw', error });
  });

  test('ends with the abort of any of its signals, before it or in its midst', async () => {
    const stopped = new Error('stopped');
    const other = new AbortController().signal;
    const early = await ended(() => 1, { signals: [other, AbortSignal.abort(stopped)] });
    expect([early.end, early.told]).toEqual([{ kind: 'aborted', error: stopped }, [stopped]]);
    const controller = new AbortController();
    const late = await ended(
      () => {
        controller.abort(stopped);
        return new Promise(() => {});
      },
      { signals: [controller.signal, other] },
    );
    expect([late.end, late.told]).toEqual([{ kind: 'aborted', error: stopped }, [stopped]]);
  });

  test('leaves no timer and no listener behind', async () => {
    vi.useFakeTimers();
    const { signal } = new AbortController();
    const added = vi.spyOn(signal, 'addEventListener');
    const removed = vi.spyOn(signal, 'removeEventListener');
    try {
      await ended(() => 1, { timeoutMs: 1000, signals: [signal] });
      expect(vi.getTimerCount()).toBe(0);
      expect(removed.mock.calls.map(([, heard]) => heard)).toEqual(added.mock.calls.map(([, heard]) => heard));
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('work in turns', () => {
  const turns = { size: 2, isExclusive: (item: string) => item === 'alone' };

  test('runs side by side up to its number, an exclusive piece alone', async () => {
    const log: string[] = [];
    let running = 0;
    await runInTurn(['a', 'b', 'alone', 'c'], turns, async (item) => {
      log.push(`${item} ${++running}`);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
    });
    expect(log).toEqual(['a 1', 'b 2', 'alone 1', 'c 1']);
  });

  test('waits for what has begun behind a failure, begins nothing more, and fails', async () => {
    const log: string[] = [];
    const work = runInTurn(['a', 'b', 'c'], turns, async (item) => {
      log.push(`${item} begins`);
      if (item === 'a') throw new Error('a failed');
      await new Promise((resolve) => setImmediate(resolve));
      log.push(`${item} ends`);
    });
    await expect(work).rejects.toThrow('a failed');
    expect(log).toEqual(['a begins', 'b begins', 'b ends']);
  });

  test('of one piece is that piece, and of none nothing', async () => {
    await expect(runInTurn(['a'], turns, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await runInTurn([], turns, () => Promise.reject(new Error('no')));
  });
});

describe('runs under one signal', () => {
  const listeners = (signal: AbortSignal) => getEventListeners(signal, 'abort').length;
  const begun = (count: number, signal: AbortSignal, ends: (() => void)[] = []) => {
    const works = Array.from({ length: count }, () => Promise.withResolvers<number>());
    const runs = works.map(({ promise }, n) => ended(() => promise, { signals: [signal], end: () => ends[n]?.() }));
    return { works, runs };
  };

  test('are one listener of it, which goes with the last of them', async () => {
    const { signal } = new AbortController();
    const { works, runs } = begun(3, signal);
    await vi.waitUntil(() => listeners(signal) > 0);
    for (const [n, work] of works.entries()) {
      work.resolve(n);
      expect((await runs[n])?.end).toEqual({ kind: 'value', value: n });
      expect(listeners(signal)).toBe(n < 2 ? 1 : 0);
    }
  });

  test('all end when it is aborted, also where one of them fails to', async () => {
    const controller = new AbortController();
    const thrown: unknown[] = [];
    const handlers = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    process.once('uncaughtException', (error) => thrown.push(error));
    try {
      const told: string[] = [];
      const fails = () => {
        throw new Error('not told');
      };
      const { runs } = begun(3, controller.signal, [() => told.push('a'), fails, () => told.push('c')]);
      await vi.waitUntil(() => listeners(controller.signal) > 0);
      controller.abort(new Error('stop'));
      const ends = await Promise.all([runs[0], runs[2]]);
      expect(ends.map((one) => one?.end.kind)).toEqual(['aborted', 'aborted']);
      expect([told, listeners(controller.signal)]).toEqual([['a', 'c'], 0]);
      await vi.waitUntil(() => thrown.length > 0);
      expect(thrown).toEqual([new Error('not told')]);
    } finally {
      for (const handler of handlers) process.on('uncaughtException', handler);
    }
  });
});
