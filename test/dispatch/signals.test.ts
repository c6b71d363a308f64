import { setImmediate as breath } from 'node:timers/promises';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { DispatchContext } from '../../src/dispatch/index.ts';
import { gate } from '../runtime/kit.ts';
import { codeOf, desk, message } from './kit.ts';

const failure = new Error('no');
const signals = { ack: (ctx: DispatchContext) => ctx.ack(), nack: (ctx: DispatchContext) => ctx.nack(failure) };

describe('the first signal stands', () => {
  test.each([
    ['ack', 'ack'],
    ['ack', 'nack'],
    ['nack', 'ack'],
    ['nack', 'nack'],
  ] as const)('S4-17 F49 %s then %s: the second throws, the first stands', async (first, second) => {
    let code = '';
    const { runner, seen } = desk(async (ctx) => {
      signals[first](ctx);
      code = await codeOf(() => signals[second](ctx));
      expect([ctx.isSignalled, ctx.isAcked, ctx.isNacked]).toEqual([true, first === 'ack', first === 'nack']);
    });
    const outcome = await runner.run();
    expect(code).toBe('E_LLM_EXECUTION_ALREADY_SIGNALLED');
    expect(outcome.status).toBe(first);
    expect(seen.error).toEqual(first === 'nack' ? [failure] : []);
    expect(seen.violation).toMatchObject([{ kind: 'signal', message: `${second} after ${first}` }]);
  });

  test('F49 a second signal that nobody catches changes nothing either', async () => {
    const { runner, seen } = desk((ctx) => {
      ctx.ack();
      ctx.ack();
    });
    expect((await runner.run()).status).toBe('ack');
    expect(seen.error).toEqual([]);
    expect(seen.violation).toHaveLength(1);
  });

  test('F49 ack, then a throw: the ack stands, and what was thrown is told once', async () => {
    const { runner, seen } = desk((ctx) => {
      ctx.ack();
      throw failure;
    });
    expect((await runner.run()).status).toBe('ack');
    expect(seen.error).toMatchObject([{ code: 'E_LLM_EXECUTION_EXECUTOR_ERROR', cause: failure }]);
    expect(seen.violation).toMatchObject([{ kind: 'throw' }]);
  });

  test('F49 nack, then a throw: the nack stands and is the only error', async () => {
    const { runner, seen } = desk((ctx) => {
      ctx.nack(failure);
      throw new Error('later');
    });
    expect(await runner.run()).toMatchObject({ status: 'nack', error: failure });
    expect(seen.error).toEqual([failure]);
    expect(seen.violation).toMatchObject([{ kind: 'throw' }]);
  });

  test('F49 ack, then an abort while the executor still runs: the ack stands', async () => {
    const { runner, seen } = desk((ctx) => {
      ctx.ack();
      ctx.abort('late');
    });
    expect((await runner.run()).status).toBe('ack');
    expect(seen.dispatchEnd).toMatchObject([{ status: 'ack' }]);
  });

  test('F49 ack, then an abort: an output pipeline that is still to come is not skipped in silence', async () => {
    const { runner } = desk(
      (ctx) => {
        ctx.ack();
        ctx.abort('late');
      },
      { turnOutputPipeline: [() => expect.unreachable()] },
    );
    expect((await runner.run()).status).toBe('aborted');
  });

  test.each(['ack', 'nack'] as const)('F49 abort, then %s: aborted, and nothing is thrown', async (signal) => {
    const { runner, seen } = desk((ctx) => {
      ctx.abort('enough');
      signals[signal](ctx);
      expect(ctx.isSignalled).toBe(false);
    });
    expect((await runner.run()).status).toBe('aborted');
    expect(seen.error).toEqual([]);
    expect(seen.violation).toMatchObject([{ kind: 'signal', message: `${signal} after aborted` }]);
  });

  test('F49 abort, then a throw: aborted without an error', async () => {
    const { runner, seen } = desk((ctx) => {
      ctx.abort();
      throw failure;
    });
    expect((await runner.run()).status).toBe('aborted');
    expect(seen.error).toEqual([]);
  });

  test('F49 an abort does not wait for an executor that ignores it, and what comes later changes nothing', async () => {
    const held = gate();
    const done = gate<string[]>();
    const { runner, records, seen } = desk(async (ctx, helpers) => {
      queueMicrotask(() => ctx.abort('stop'));
      await held.opened;
      helpers.reportMessage('m', 'late');
      const stored = await codeOf(() => ctx.storeMessage(message('m', 'late')));
      const signalled = await codeOf(() => ctx.ack());
      done.open([stored, signalled]);
    });
    expect((await runner.run()).status).toBe('aborted');
    held.open();
    expect(await done.opened).toEqual(['E_LLM_EXECUTION_SUPERSEDED', 'nothing was thrown']);
    expect(records.message.size).toBe(0);
    expect(seen.message).toEqual([]);
    expect(seen.violation.map(({ kind }) => kind)).toEqual(['report', 'store', 'signal']);
    expect(seen.turnEnd).toHaveLength(1);
  });

  test('F49 a signal from a run that has returned is refused, and the present run goes on', async () => {
    let late: DispatchContext | undefined;
    const codes: string[] = [];
    const { runner, seen } = desk(async (ctx) => {
      if (!late) {
        late = ctx;
        return;
      }
      const old = late;
      codes.push(await codeOf(() => old.nack(failure)), await codeOf(() => old.storeMessage(message('x', 'x'))));
      ctx.ack();
      codes.push(await codeOf(() => old.ack()));
    });
    expect(await runner.run()).toMatchObject({ status: 'ack', iterations: 2 });
    expect(codes).toEqual([
      'E_LLM_EXECUTION_SUPERSEDED',
      'E_LLM_EXECUTION_SUPERSEDED',
      'E_LLM_EXECUTION_ALREADY_SIGNALLED',
    ]);
    expect(seen.violation).toHaveLength(3);
  });

  test('F49 a signal after the turn has ended throws', async () => {
    let kept: DispatchContext | undefined;
    const { runner } = desk((ctx) => {
      kept = ctx;
      ctx.ack();
    });
    await runner.run();
    expect(await codeOf(() => kept?.nack())).toBe('E_LLM_EXECUTION_ALREADY_SIGNALLED');
    expect(await codeOf(() => kept?.storeMessage(message('x', 'x')))).toBe('E_LLM_EXECUTION_SUPERSEDED');
  });

  test('S4-21 F49 what is reported and stored after the signal, while the executor still runs, counts', async () => {
    const { runner, records, seen } = desk(async (ctx, helpers) => {
      ctx.ack();
      helpers.reportMessage('m', 'still here');
      await ctx.storeMessage(message('m', 'still here'));
      void ctx.storeMessage(message('n', 'not awaited'));
    });
    expect((await runner.run()).status).toBe('ack');
    expect(seen.message).toMatchObject([{ full: 'still here' }]);
    expect([...records.message].map(({ id }) => id)).toEqual(['m', 'n']);
    expect(seen.violation).toEqual([]);
  });

  test('S4-21 the turn waits for writes that nobody awaits', async () => {
    const stored: string[] = [];
    const { runner } = desk(
      (ctx) => {
        void ctx.storeMessage(message('m', 'x'));
        ctx.ack();
      },
      {
        storeMessageCallback: async (_, { id }) => {
          await breath();
          stored.push(id);
        },
      },
    );
    await runner.run();
    expect(stored).toEqual(['m']);
  });

  test('onAck handlers run at once, and what they throw is dropped', async () => {
    const heard: string[] = [];
    const { runner } = desk((ctx) => {
      ctx.onAck(() => {
        throw failure;
      });
      ctx.onAck(() => heard.push('second'));
      const forget = ctx.onAck(() => heard.push('never'));
      forget();
      ctx.ack();
      expect(heard).toEqual(['second']);
    });
    expect((await runner.run()).status).toBe('ack');
  });

  test('nack() without an error, and with something that is none', async () => {
    expect((await desk((ctx) => ctx.nack()).runner.run()).error).toBeInstanceOf(Error);
    expect((await desk((ctx) => ctx.nack('full')).runner.run()).error?.message).toBe('full');
  });
});

describe('runs without a signal', () => {
  test('S4-18 1,000 runs, then an abort: no cap and no time limit of our own', async () => {
    const { runner, seen } = desk((ctx) => {
      if (ctx.iteration === 999) ctx.abort('enough');
    });
    expect(await runner.run()).toEqual({ turnId: expect.any(String), status: 'aborted', iterations: 1000 });
    expect(seen.iterationEnd).toHaveLength(1000);
    expect(seen.error).toEqual([]);
  });

  test('S4-07 ctx.iteration counts from 0', async () => {
    const counted: number[] = [];
    const { runner, seen } = desk((ctx) => {
      counted.push(ctx.iteration);
      if (ctx.iteration === 2) ctx.ack();
    });
    await runner.run();
    expect(counted).toEqual([0, 1, 2]);
    expect(seen.iterationEnd.map(({ iteration }) => iteration)).toEqual([0, 1, 2]);
  });

  test('S4-26 an executor that gives up keeps its error, and its runs are counted', async () => {
    const { runner } = desk((ctx) => {
      if (ctx.iteration >= 5) ctx.nack(new Error('Agent exceeded iteration threshold of 5'));
    });
    expect(await runner.run()).toMatchObject({
      status: 'nack',
      iterations: 6,
      error: { message: expect.stringContaining('exceeded iteration threshold of 5') },
    });
  });

  test('S4-33 a run without signal and progress says so', async () => {
    const { runner, seen } = desk(async (ctx, helpers) => {
      if (ctx.iteration === 1) helpers.reportThought('t', 'hm');
      if (ctx.iteration === 2) ctx.ack();
    });
    await runner.run();
    expect(seen.iterationEnd.map(({ progress, signal }) => [progress, signal])).toEqual([
      [false, undefined],
      [true, undefined],
      [false, 'ack'],
    ]);
  });

  test('an abort from outside reaches a loop that never waits', async () => {
    const turnAbortController = new AbortController();
    const { runner } = desk(() => {});
    const run = runner.run({ turnAbortController });
    await breath();
    turnAbortController.abort();
    expect((await run).status).toBe('aborted');
  });
});

describe('the watchdog', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  test('S4-33 idle runs become a failure of their own', async () => {
    const { runner, seen } = desk(() => {}, { watchdog: { idleRuns: 3 } });
    expect(await runner.run()).toMatchObject({ status: 'nack', iterations: 3, error: { code: 'E_EXECUTOR_SILENT' } });
    expect(seen.error).toHaveLength(1);
  });

  test('S4-33 silence becomes a failure, and the executor’s signal fires', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const entered = gate();
    let signal: AbortSignal | undefined;
    const { runner } = desk(
      async (ctx, helpers) => {
        signal = ctx.abortSignal;
        helpers.log.info({ kind: 'begin', message: 'calling' });
        entered.open();
        await new Promise(() => {});
      },
      { watchdog: { silenceMs: 5000 } },
    );
    const run = runner.run();
    await entered.opened;
    await vi.advanceTimersByTimeAsync(4999);
    expect(signal?.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(await run).toMatchObject({ status: 'nack', error: { code: 'E_EXECUTOR_SILENT' } });
    expect(signal?.reason).toMatchObject({ code: 'E_EXECUTOR_SILENT' });
  });

  test.each([Number.POSITIVE_INFINITY, 2 ** 31])(
    'ATK7-14 silence of %d milliseconds is never over',
    async (silenceMs) => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      const entered = gate();
      const speaks = gate();
      const { runner } = desk(
        async (ctx) => {
          entered.open();
          await speaks.opened;
          ctx.ack();
        },
        { watchdog: { silenceMs } },
      );
      const run = runner.run();
      await entered.opened;
      await vi.advanceTimersByTimeAsync(3_600_000);
      speaks.open();
      expect((await run).status).toBe('ack');
    },
  );

  test('a sign of life starts the time anew; a tool that runs is no silence', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const slow = gate<string>();
    const started = gate();
    const { runner } = desk(
      async (ctx) => {
        await ctx.tools.get('slow')?.executor(ctx)({});
        ctx.ack();
      },
      {
        watchdog: { silenceMs: 1000 },
        tools: [
          {
            name: 'slow',
            description: 'takes its time',
            inputSchema: { type: 'object' },
            execute: () => {
              started.open();
              return slow.opened;
            },
          },
        ],
      },
    );
    const run = runner.run();
    await started.opened;
    await vi.advanceTimersByTimeAsync(10_000);
    slow.open('done');
    expect((await run).status).toBe('ack');
  });

  test('silence after the ack: the ack stands', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const entered = gate();
    const { runner, seen } = desk(
      async (ctx) => {
        ctx.ack();
        entered.open();
        await new Promise(() => {});
      },
      { watchdog: { silenceMs: 10 } },
    );
    const run = runner.run();
    await entered.opened;
    await vi.advanceTimersByTimeAsync(10);
    expect((await run).status).toBe('ack');
    expect(seen.violation).toHaveLength(1);
  });
});
