import { describe, expect, test } from 'vitest';
import { runHandler } from '../../src/gate/index.ts';
import { approved, contextOf, toolOf } from './kit.ts';

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
