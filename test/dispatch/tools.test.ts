import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import type { AnyTool } from '../../src/contracts/index.ts';
import type { DispatchExecutorFn } from '../../src/dispatch/index.ts';
import { inMemoryCallbacks, Tool, ToolRegistry, TurnRunner, toolCallChecksum } from '../../src/dispatch/index.ts';
import { gate } from '../runtime/kit.ts';
import { call, codeOf, desk } from './kit.ts';

const add = Tool.define({
  name: 'add',
  description: 'Adds.',
  inputSchema: z.object({ a: z.number(), b: z.number().default(1) }),
  handler: ({ a, b }) => ({ sum: a + b }),
});

/** Runs `work` as an executor with these tools and tells what it came to. */
async function runWith(
  tools: readonly (Tool | AnyTool)[],
  work: DispatchExecutorFn,
  records = inMemoryCallbacks().records,
) {
  const at = desk(
    async (ctx, helpers) => {
      await work(ctx, helpers);
      if (!ctx.isSignalled && !ctx.aborted) ctx.ack();
    },
    { tools },
    records,
  );
  return { ...at, outcome: await at.runner.run() };
}

describe('the registry', () => {
  test('S4-06 all() and get()', async () => {
    await runWith([add], (ctx) => {
      expect(ctx.tools.all().map(({ name }) => name)).toEqual(['add']);
      expect(ctx.tools.get('add')).toBe(add);
      expect(ctx.tools.get('none')).toBeUndefined();
    });
  });

  test('S4-51 a taken name: throw, replace, keep', () => {
    const other = new Tool({ name: 'add', description: 'Another.' });
    const registry = new ToolRegistry([add]);
    expect(() => registry.register(other)).toThrow(expect.objectContaining({ code: 'E_TOOL_ALREADY_REGISTERED' }));
    expect(registry.register(other, 'keep').get('add')).toBe(add);
    expect(registry.register(other, 'replace').get('add')).toBe(other);
    expect(() => new ToolRegistry([add, other])).toThrow(/add/);
  });

  test('S4-51 merge takes all or nothing', () => {
    const other = new Tool({ name: 'add', description: 'Another.' });
    const more = new Tool({ name: 'more', description: 'More.' });
    const registry = new ToolRegistry([add]);
    expect(() => registry.merge(new ToolRegistry([more, other]))).toThrow(/add/);
    expect(registry.has('more')).toBe(false);
    expect(registry.merge(new ToolRegistry([more, other]), 'keep').get('add')).toBe(add);
    expect(registry.merge(new ToolRegistry([other]), 'replace').get('add')).toBe(other);
    expect(registry.size).toBe(2);
  });

  test('what a pipeline does to the tools of one turn does not reach the next', async () => {
    const seen: number[] = [];
    const { runner } = desk(
      (ctx) => {
        seen.push(ctx.tools.size);
        ctx.ack();
      },
      {
        tools: [add],
        turnInputPipeline: [
          (ctx, next) => {
            ctx.tools.unregister('add');
            return next();
          },
        ],
        fetchToolsCallback: () => [new Tool({ name: `extra${seen.length}`, description: 'Of this turn.' })],
      },
    );
    await runner.run();
    await runner.run();
    expect(seen).toEqual([1, 1]);
  });
});

describe('a tool', () => {
  test('S4-31 S4-30 describe() gives name, description and JSON Schema', () => {
    const schema = z.object({
      text: z.string().describe('words'),
      count: z.number(),
      flag: z.boolean().optional(),
      mode: z.enum(['a', 'b']),
      list: z.array(z.object({ n: z.number() })),
    });
    const { name, description, inputSchema } = new Tool({
      name: 't',
      description: 'd',
      inputSchema: schema,
    }).describe();
    expect([name, description]).toEqual(['t', 'd']);
    expect(inputSchema).toMatchObject({
      type: 'object',
      properties: {
        text: { type: 'string', description: 'words' },
        count: { type: 'number' },
        flag: { type: 'boolean' },
        mode: { type: 'string', enum: ['a', 'b'] },
        list: { type: 'array', items: { type: 'object', properties: { n: { type: 'number' } } } },
      },
      required: ['text', 'count', 'mode', 'list'],
    });
  });

  test('S4-22 runs inline with validated arguments', async () => {
    await runWith([add], async (ctx) => {
      expect(await ctx.tools.get('add')?.executor(ctx)({ a: 2 })).toEqual({ sum: 3 });
    });
  });

  test('S4-22 S4-50 wrong arguments throw before anything starts', async () => {
    const { seen } = await runWith([add], async (ctx) => {
      expect(await codeOf(() => add.executor(ctx)({ a: 'x' }))).toBe('E_INVALID_TOOL_ARGS');
      expect(await codeOf(() => add.executor(ctx)('none'))).toBe('E_INVALID_TOOL_ARGS');
    });
    expect(seen.toolExecutionStart).toEqual([]);
  });

  test('S4-50 S4-25 start and end carry the checksum of the raw arguments', async () => {
    const { seen } = await runWith([add], async (ctx) => {
      await add.executor(ctx)({ a: 2 });
    });
    const callId = toolCallChecksum('add', { a: 2 });
    expect(seen.toolExecutionStart).toMatchObject([{ toolName: 'add', callId, args: { a: 2, b: 1 } }]);
    expect(seen.toolExecutionEnd).toMatchObject([{ toolName: 'add', callId, isError: false }]);
  });

  test('S4-22 a handler that throws: an error with the cause, and an end that says so', async () => {
    const cause = new Error('disk');
    const bad = new Tool({ name: 'bad', description: 'fails', handler: () => Promise.reject(cause) });
    const { seen } = await runWith([bad], async (ctx) => {
      await expect(bad.executor(ctx)({})).rejects.toMatchObject({ code: 'E_TOOL_DOWNSTREAM_ERROR', cause });
    });
    expect(seen.toolExecutionEnd).toMatchObject([{ isError: true }]);
  });

  test('an abort rejects the call with its reason, whatever the handler does', async () => {
    const never = new Tool({ name: 'never', description: 'hangs', handler: () => new Promise(() => {}) });
    const reason = new Error('stop');
    const settled = gate<unknown>();
    const { outcome } = await runWith([never], async (ctx) => {
      const running = never.executor(ctx)({});
      running.catch(settled.open);
      ctx.abort(reason);
      await running;
    });
    expect(outcome.status).toBe('aborted');
    expect(await settled.opened).toBe(reason);
  });

  test.each([0, 2 ** 31])('a limit of %d ms is none that runs out', async (timeoutMs) => {
    const started = gate();
    const slow = gate<string>();
    const handler = () => {
      started.open();
      return slow.opened;
    };
    const tool = new Tool({ name: 'slow', description: 'waits', timeoutMs, handler });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      await runWith([tool], async (ctx) => {
        const running = tool.executor(ctx)({});
        await started.opened;
        await vi.advanceTimersByTimeAsync(24 * 60 * 60_000);
        slow.open('x');
        await expect(running).resolves.toBe('x');
      });
    } finally {
      vi.useRealTimers();
    }
  });

  test('one that needs approval does not run where nobody can be asked', async () => {
    const pay = new Tool({
      name: 'pay',
      description: 'pays',
      needsApproval: true,
      handler: () => expect.unreachable(),
    });
    await runWith([pay], async (ctx) => {
      await expect(pay.executor(ctx)({})).rejects.toThrow(/approval/);
    });
  });

  test('one without a handler says that only a host can run it', async () => {
    const theirs = new Tool({ name: 'theirs', description: 'elsewhere' });
    await runWith([theirs], async (ctx) => {
      await expect(theirs.executor(ctx)({})).rejects.toMatchObject({ code: 'E_TOOL_DOWNSTREAM_ERROR' });
    });
  });

  test('S4-35 a tool may be another executor with a runner of its own', async () => {
    const inner: string[] = [];
    const expert = new Tool({
      name: 'expert',
      description: 'asks an expert',
      handler: async () => {
        const runner = new TurnRunner({
          ...inMemoryCallbacks(),
          executorCallback: (ctx, { reportMessage }) => {
            reportMessage('m', '42');
            ctx.ack();
          },
        });
        runner.on('message', ({ full }) => inner.push(full));
        return (await runner.run()).status;
      },
    });
    const { seen } = await runWith([expert], async (ctx) => {
      expect(await expert.executor(ctx)({})).toBe('ack');
    });
    expect([inner, seen.message]).toEqual([['42'], []]);
  });
});

describe('call ids', () => {
  const counting = (extra: Partial<AnyTool> = {}) => {
    const ids: string[] = [];
    const tool = Tool.from({
      name: 'pay',
      description: 'pays',
      inputSchema: { type: 'object' },
      execute: (_: unknown, { callId }: { callId: string }) => {
        ids.push(callId);
        return `paid ${ids.length}`;
      },
      ...extra,
    });
    return { ids, tool };
  };

  test('F50 the same id in a later run gets the result that is known; the handler is given the id', async () => {
    const { ids, tool } = counting();
    const results: unknown[] = [];
    const { runner } = desk(
      async (ctx) => {
        results.push(await tool.executor(ctx, { callId: 'c1' })({ sum: 5 }));
        // The first run is lost before it could store what it got.
        if (ctx.iteration === 1) ctx.ack();
      },
      { tools: [tool] },
    );
    await runner.run();
    expect([results, ids]).toEqual([['paid 1', 'paid 1'], ['c1']]);
  });

  test('F50 the same id at the same time is one call', async () => {
    const { ids, tool } = counting();
    await runWith([tool], async (ctx) => {
      const run = tool.executor(ctx, { callId: 'c1' });
      expect(await Promise.all([run({}), run({})])).toEqual(['paid 1', 'paid 1']);
    });
    expect(ids).toEqual(['c1']);
  });

  test('F50 a stored result is used again in another turn', async () => {
    const { ids, tool } = counting();
    const { records } = inMemoryCallbacks();
    records.apply({ op: 'store', kind: 'toolCall', value: call('c1', 'pay', { sum: 5 }, 'paid before') });
    const work: DispatchExecutorFn = async (ctx) => {
      expect(await tool.executor(ctx, { callId: 'c1' })({ sum: 5 })).toBe('paid before');
      expect(await codeOf(() => tool.executor(ctx, { callId: 'c1' })({ sum: 6 }))).toBe('E_INVALID_TOOL_ARGS');
    };
    await runWith([tool], work, records);
    expect(ids).toEqual([]);
  });

  test.each([
    [{}, 'E_TOOL_OUTCOME_UNKNOWN', 0],
    [{ annotations: { idempotent: true } }, 'nothing was thrown', 1],
  ] as const)('F50 begun and without a result, annotated %j: %s', async (extra, code, runs) => {
    const { ids, tool } = counting(extra);
    const { records } = inMemoryCallbacks();
    records.apply({ op: 'store', kind: 'toolCall', value: call('c1', 'pay', {}, undefined, false) });
    const work: DispatchExecutorFn = async (ctx) => {
      expect(await codeOf(() => tool.executor(ctx, { callId: 'c1' })({}))).toBe(code);
    };
    await runWith([tool], work, records);
    expect(ids).toHaveLength(runs);
  });

  test('without an id every run is a call of its own', async () => {
    const { ids, tool } = counting();
    await runWith([tool], async (ctx) => {
      await tool.executor(ctx)({});
      await tool.executor(ctx)({});
    });
    expect(new Set(ids).size).toBe(2);
  });
});
