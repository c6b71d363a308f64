import { describe, expect, test } from 'vitest';
import type { AnyTool, ProvidedTool, ToolProvider } from '../../src/contracts/index.ts';
import { providedTool, runHandler } from '../../src/gate/index.ts';
import { approved, contextOf, descriptor, gateCall, toolOf } from './kit.ts';

describe('the door to a handler', () => {
  test('MUT-G4 a genuine decision for one call lets no other call run', async () => {
    let runs = 0;
    const tool = toolOf(() => ++runs);
    const decision = await approved();
    await expect(runHandler(decision, tool, contextOf('c2'))).rejects.toMatchObject({
      status: 'PERMISSION_DENIED',
      code: 'E_TOOL',
      message: expect.stringContaining('c2'),
    });
    expect(runs).toBe(0);
    expect(await runHandler(decision, tool, contextOf('c1'))).toBe(1);
  });
});

describe('what a handler is given and gives', () => {
  const run = async (tool: AnyTool, args = {}) => runHandler(await approved(gateCall({ args })), tool, contextOf('c1'));

  test('a tool without a handler is its host’s to run', async () => {
    await expect(run({ ...descriptor } as AnyTool)).rejects.toMatchObject({
      status: 'FAILED_PRECONDITION',
      code: 'E_TOOL',
    });
  });

  test.each([[null], ['text'], [undefined], [0], [{ a: 1 }], [[1]]])('%j is returned as it is', async (value) => {
    expect(await run(toolOf(() => value))).toBe(value);
    expect(await run(toolOf(async () => value))).toEqual(value);
  });

  test('of a provider’s tool: the call, its signal and its context', async () => {
    const asked: unknown[] = [];
    const execute = async (...given: unknown[]) => {
      asked.push(given);
      return 'done';
    };
    const tool = providedTool({ execute } as unknown as ToolProvider, descriptor as ProvidedTool);
    const context = contextOf('c1');
    const decision = await approved(gateCall({ args: { eur: 5 } }));
    expect(await runHandler(decision, tool, context)).toBe('done');
    expect(asked).toEqual([
      [{ callId: 'c1', name: 'pay', args: { eur: 5 }, tool: descriptor }, context.signal, context],
    ]);
  });
});

describe('a handler that yields', () => {
  /** Yields twice; tells whether its `finally` has run. */
  const generator = () => {
    let isClosed = false;
    const tool = toolOf(async function* () {
      try {
        yield 'first';
        yield 'second';
        return 'value';
      } finally {
        isClosed = true;
      }
    });
    // Nobody waits for its end, which comes in the same turn of the event loop.
    const closed = async () => {
      await new Promise((resolve) => setImmediate(resolve));
      return isClosed;
    };
    return { tool, closed };
  };

  test('MUT-G5 is closed once its first word is the value', async () => {
    const { tool, closed } = generator();
    expect(await runHandler(await approved(), tool, contextOf('c1'), { firstOnly: true })).toBe('first');
    expect(await closed()).toBe(true);
  });

  test('shows its updates, and what it returns is the value', async () => {
    const shown: unknown[] = [];
    const progress = (update: unknown) => void shown.push(update);
    const context = contextOf('c1', { progress });
    expect(await runHandler(await approved(), generator().tool, context)).toBe('value');
    expect(shown).toEqual(['first', 'second']);
  });

  test('need not be one that can be closed', async () => {
    const steps = ['first', 'second'];
    const next = async () => ({ value: steps.shift(), done: false });
    const tool = toolOf(() => ({ [Symbol.asyncIterator]: () => ({ next }) }));
    expect(await runHandler(await approved(), tool, contextOf('c1'), { firstOnly: true })).toBe('first');
  });

  test('MUT-G5 is closed by an abort, which is what the caller hears', async () => {
    const { tool, closed } = generator();
    const controller = new AbortController();
    const reason = new Error('stopped');
    const shown: unknown[] = [];
    const progress = (update: unknown) => {
      shown.push(update);
      controller.abort(reason);
    };
    const running = runHandler(await approved(), tool, contextOf('c1', { signal: controller.signal, progress }));
    await expect(running).rejects.toBe(reason);
    expect([shown, await closed()]).toEqual([['first'], true]);
  });
});
