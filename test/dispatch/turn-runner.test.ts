import { describe, expect, test } from 'vitest';
import type { DispatchContext, DispatchExecutorFn, TurnRunnerConfig } from '../../src/dispatch/index.ts';
import { inMemoryCallbacks, TurnRunner } from '../../src/dispatch/index.ts';
import { call, codeOf, conversation, desk, message } from './kit.ts';

const acks: DispatchExecutorFn = (ctx) => ctx.ack();

describe('construction', () => {
  test('S4-02 without executor or callbacks every missing field is named', () => {
    const make = () => new TurnRunner({ storeMessageCallback: () => {} } as unknown as TurnRunnerConfig);
    expect(make).toThrow(/executorCallback.*fetchMessagesCallback.*deleteToolCallCallback/);
    expect(make).not.toThrow(/storeMessageCallback/);
    expect(make).toThrow(expect.objectContaining({ code: 'E_INVALID_TURN_RUNNER_CONFIG' }));
  });

  test('S4-02 a pipeline that is no list of functions is named', () => {
    const dispatchInputPipeline = ['x'] as never;
    const make = () => new TurnRunner({ ...inMemoryCallbacks(), executorCallback: acks, dispatchInputPipeline });
    expect(make).toThrow(/dispatchInputPipeline/);
  });

  test('S4-01 an executor is all there is: no environment is read, no model is called', async () => {
    const env = process.env;
    process.env = new Proxy(env, {
      get: (target, name) => {
        if (/key|token|model|openai/i.test(String(name))) throw new Error(`read ${String(name)}`);
        return Reflect.get(target, name);
      },
    });
    try {
      expect((await desk(acks).runner.run()).status).toBe('ack');
    } finally {
      process.env = env;
    }
  });
});

describe('a turn', () => {
  test('S4-27 a stub that acknowledges completes the turn, events in order', async () => {
    const { runner, order } = desk(acks);
    expect(await runner.run()).toMatchObject({ status: 'ack', iterations: 1 });
    expect(order).toEqual(['turnStart', 'dispatchStart', 'iterationStart', 'iterationEnd', 'dispatchEnd', 'turnEnd']);
  });

  test('S4-04 a synchronous executor and one that returns a promise', async () => {
    expect((await desk((ctx) => ctx.ack()).runner.run()).status).toBe('ack');
    expect((await desk(async (ctx) => ctx.ack()).runner.run()).status).toBe('ack');
  });

  test('S4-03 rules instead of a model', async () => {
    const { runner, records } = desk(
      async (ctx) => {
        const said = [...ctx.turnMessages].at(-1)?.content ?? '';
        await ctx.storeMessage(message('a1', said.includes('refund') ? 'Let me pass you on.' : 'Hello.'));
        ctx.ack();
      },
      {},
      conversation(message('u1', 'a refund please', 'user')),
    );
    await runner.run();
    expect([...records.message].at(-1)?.content).toBe('Let me pass you on.');
  });

  test('S4-05 S4-11 S4-21 turnMessages is a Set of Messages, and what is stored is there in the next turn', async () => {
    const lengths: number[] = [];
    const { runner } = desk(
      async (ctx) => {
        expect(ctx.turnMessages).toBeInstanceOf(Set);
        lengths.push(ctx.turnMessages.size);
        await ctx.storeMessage(message(`a${lengths.length}`, 'yes'));
        expect(ctx.turnMessages.size).toBe((lengths.at(-1) ?? 0) + 1);
        ctx.ack();
      },
      {},
      conversation(message('u1', 'hi', 'user')),
    );
    await runner.run();
    await runner.run();
    expect(lengths).toEqual([1, 2]);
  });

  test('S4-11 S4-23 tool calls and thoughts are loaded, stored, changed and deleted', async () => {
    const { runner, records } = desk(async (ctx) => {
      await ctx.storeToolCall(call('c1', 'find', { q: 1 }, undefined, false));
      await ctx.mutateToolCall(call('c1', 'find', { q: 1 }, { found: 2 }));
      await ctx.storeToolCall(call('c2', 'find', { q: 2 }));
      await ctx.deleteToolCall('c2');
      ctx.ack();
    });
    await runner.run();
    const [only] = records.toolCall;
    expect(records.toolCall.size).toBe(1);
    expect(only).toMatchObject({ id: 'c1', tool: 'find', args: { q: 1 }, results: { found: 2 }, isComplete: true });
    expect(only?.completedAt).toEqual(new Date(1000));
  });

  test('S4-08 toolCallCount counts stored calls, loaded ones included', async () => {
    const counts: number[] = [];
    const records = conversation();
    records.apply({ op: 'store', kind: 'toolCall', value: call('old', 'find', { a: 1, b: 2 }) });
    const { checksum } = call('x', 'find', { b: 2, a: 1 });
    const { runner } = desk(
      async (ctx, helpers) => {
        const count = () => counts.push(ctx.toolCallCount(checksum));
        count();
        helpers.reportToolCall('new', { tool: 'find', args: { a: 1, b: 2 } });
        count();
        await ctx.storeToolCall(call('new', 'find', { a: 1, b: 2 }));
        count();
        await ctx.mutateToolCall(call('new', 'find', { a: 1, b: 2 }, 'r'));
        count();
        await ctx.deleteToolCall('old');
        count();
        ctx.ack();
      },
      {},
      records,
    );
    await runner.run();
    expect(counts).toEqual([1, 1, 2, 2, 1]);
  });

  test('S4-09 S4-10 isSignalled, and an abort signal that follows the turn’s controller', async () => {
    const turnAbortController = new AbortController();
    const { runner } = desk((ctx) => {
      expect(ctx.isSignalled).toBe(false);
      expect(ctx.abortSignal).toBe(turnAbortController.signal);
      ctx.ack();
      expect(ctx.isSignalled).toBe(true);
    });
    expect((await runner.run({ turnAbortController })).status).toBe('ack');
  });

  test('S4-10 a turn that is aborted before it starts runs nothing', async () => {
    const { runner, order } = desk(() => expect.unreachable());
    expect((await runner.run({ turnAbortController: aborted() })).status).toBe('aborted');
    expect(order).toEqual(['turnStart', 'turnEnd']);
  });

  test('S4-12 nack: the error once, no output pipeline, turnEnd, and run() resolves', async () => {
    const error = new Error('gave up');
    const { runner, seen, order } = desk((ctx) => ctx.nack(error), {
      turnOutputPipeline: [() => expect.unreachable()],
    });
    expect(await runner.run()).toMatchObject({ status: 'nack', error });
    expect(seen.error).toEqual([error]);
    expect(order.slice(-3)).toEqual(['dispatchEnd', 'error', 'turnEnd']);
    expect(seen.dispatchEnd).toMatchObject([{ status: 'nack', iterations: 1 }]);
  });

  test.each([
    ['an Error', new Error('broken'), 'the executor failed: broken'],
    ['text', 'just text', 'the executor failed: just text'],
  ])('S4-20 an uncaught throw of %s is a nack', async (_, thrown, text) => {
    const { runner, seen } = desk(() => {
      throw thrown;
    });
    expect(await runner.run()).toMatchObject({
      status: 'nack',
      error: { code: 'E_LLM_EXECUTION_EXECUTOR_ERROR', message: text, cause: thrown },
    });
    expect(seen.error).toHaveLength(1);
  });

  test('S4-20 a thrown AbortError is an abort without an error', async () => {
    const { runner, seen } = desk(() => {
      throw new DOMException('cancelled', 'AbortError');
    });
    expect((await runner.run()).status).toBe('aborted');
    expect(seen.error).toEqual([]);
  });

  test('what a callback throws fails the turn, loading or storing', async () => {
    const loading = desk(acks, { fetchThoughtsCallback: () => Promise.reject(new Error('down')) });
    expect(await loading.runner.run()).toMatchObject({ status: 'nack', error: { code: 'E_INPUT_PIPELINE_ERROR' } });
    const storing = desk(
      async (ctx) => {
        await ctx.storeMessage(message('m', 'x'));
        ctx.ack();
      },
      { storeMessageCallback: () => Promise.reject(new Error('full')) },
    );
    expect(await storing.runner.run()).toMatchObject({
      status: 'nack',
      error: { message: expect.stringMatching(/full/) },
    });
  });

  test('a store that fails and that nobody awaits ends neither the process nor the turn', async () => {
    const { runner, seen } = desk(
      (ctx) => {
        void ctx.storeMessage(message('m', 'x'));
        ctx.ack();
      },
      { storeMessageCallback: () => Promise.reject(new Error('full')) },
    );
    expect((await runner.run()).status).toBe('ack');
    expect(seen.log).toMatchObject([{ kind: 'operation-failed', message: expect.stringMatching(/full/) }]);
  });

  test('values that are none are refused', async () => {
    const { runner } = desk(async (ctx) => {
      expect(await codeOf(() => ctx.storeMessage({ id: 'x' } as never))).toBe('E_INVALID_INITIAL_VALUE');
      ctx.ack();
    });
    await runner.run();
  });

  test('after a nack the writes are durable, and the turn does not see them', async () => {
    let turn: { turnMessages: Set<unknown> } | undefined;
    const { runner, records } = desk(
      async (ctx) => {
        await ctx.storeMessage(message('m', 'x'));
        ctx.nack();
      },
      {
        turnInputPipeline: [
          (ctx, next) => {
            turn = ctx;
            return next();
          },
        ],
      },
    );
    await runner.run();
    expect([records.message.size, turn?.turnMessages.size]).toEqual([1, 0]);
  });

  test('system prompt, instructions and stash reach the executor', async () => {
    const { runner } = desk((ctx) => {
      expect([ctx.systemPrompt, ctx.standingInstructions, ctx.stash.get('k')]).toEqual(['be kind', ['short'], 7]);
      ctx.ack();
    });
    const outcome = await runner.run({ systemPrompt: 'be kind', standingInstructions: ['short'], stash: { k: 7 } });
    expect(outcome.status).toBe('ack');
  });
});

describe('pipelines', () => {
  const trace = () => {
    const steps: string[] = [];
    const around = (name: string) => async (_: unknown, next: () => Promise<void>) => {
      steps.push(`${name} in`);
      await next();
      steps.push(`${name} out`);
    };
    return { steps, around };
  };

  test('S4-52 turn pipelines once, dispatch pipelines around every run', async () => {
    const { steps, around } = trace();
    const { runner } = desk(
      (ctx) => {
        steps.push(`run ${ctx.iteration}`);
      },
      {
        turnInputPipeline: [around('ti1'), around('ti2')],
        dispatchInputPipeline: [around('di')],
        dispatchOutputPipeline: [
          around('do'),
          (ctx: DispatchContext, next) => {
            if (ctx.iteration === 1) ctx.ack();
            return next();
          },
        ],
        turnOutputPipeline: [around('to')],
      },
    );
    expect((await runner.run()).status).toBe('ack');
    const pass = (n: number) => ['di in', 'di out', `run ${n}`, 'do in', 'do out'];
    expect(steps).toEqual(['ti1 in', 'ti2 in', 'ti2 out', 'ti1 out', ...pass(0), ...pass(1), 'to in', 'to out']);
  });

  test('S4-52 the output pipeline is skipped after a signal of the executor; the run is counted all the same', async () => {
    const { runner, seen } = desk(acks, { dispatchOutputPipeline: [() => expect.unreachable()] });
    await runner.run();
    expect(seen.iterationEnd).toMatchObject([{ iteration: 0, signal: 'ack' }]);
    expect(seen.dispatchEnd).toMatchObject([{ iterations: 1 }]);
  });

  test.each(['ack', 'nack', 'abort'] as const)('S4-19 a pipeline may %s before the executor', async (what) => {
    const { runner } = desk(() => expect.unreachable(), { dispatchInputPipeline: [(ctx) => ctx[what]()] });
    expect((await runner.run()).status).toBe(what === 'abort' ? 'aborted' : what);
  });

  test.each(['dispatchInputPipeline', 'turnInputPipeline', 'turnOutputPipeline'] as const)(
    'S4-52 %s that is left without next() fails the turn',
    async (name) => {
      const { runner, seen } = desk(acks, { [name]: [() => {}] });
      expect(await runner.run()).toMatchObject({ status: 'nack', error: { code: 'E_PIPELINE_SHORT_CIRCUITED' } });
      expect(seen.error).toHaveLength(1);
    },
  );

  test.each([
    ['dispatchInputPipeline', 'E_DISPATCH_PIPELINE_ERROR'],
    ['turnInputPipeline', 'E_INPUT_PIPELINE_ERROR'],
    ['turnOutputPipeline', 'E_OUTPUT_PIPELINE_ERROR'],
  ] as const)('S4-52 what %s throws fails the turn', async (name, code) => {
    const cause = new Error('broken');
    const broken = () => {
      throw cause;
    };
    expect(await desk(acks, { [name]: [broken] }).runner.run()).toMatchObject({
      status: 'nack',
      error: { code, cause },
    });
  });

  test('next() twice is refused', async () => {
    const twice = async (_: unknown, next: () => Promise<void>) => {
      await next();
      await next();
    };
    const { runner } = desk(acks, { dispatchInputPipeline: [twice] });
    expect(await runner.run()).toMatchObject({ error: { code: 'E_DISPATCH_PIPELINE_ERROR' } });
  });
});

function aborted(): AbortController {
  const controller = new AbortController();
  controller.abort();
  return controller;
}
