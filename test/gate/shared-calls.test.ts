import { expect, test } from 'vitest';
import type { AnyTool, ToolCallContext } from '../../src/contracts/index.ts';
import { normaliseReturn, providedTool, runHandler, shareRuns } from '../../src/gate/index.ts';
import { approved, contextOf, toolOf } from './kit.ts';

type Execute = (args: unknown, context: ToolCallContext<never>) => unknown;

function sharing(execute: Execute, options: Partial<Parameters<typeof shareRuns>[2]> = {}) {
  const flights: Parameters<typeof shareRuns>[1] = new Map();
  const tool = shareRuns(toolOf(execute), flights, { keyOf: () => 'same', lookUp: () => undefined, ...options });
  const call = async (context: Partial<ToolCallContext<never>> = {}) =>
    runHandler(await approved(), tool, contextOf('c1', context));
  return { call, flights };
}

/** A handler whose runs wait to be let go, one after the other. */
function waiting() {
  const runs: PromiseWithResolvers<unknown>[] = [];
  const begun: (() => void)[] = [];
  const execute: Execute = () => {
    const run = Promise.withResolvers<unknown>();
    runs.push(run);
    begun.shift()?.();
    return run.promise;
  };
  const next = () => new Promise<void>((resolve) => begun.push(resolve));
  return { execute, runs, next };
}

test('calls without a key, or with different ones, share nothing', async () => {
  for (const keyOf of [() => undefined, (args: unknown) => JSON.stringify(args) + String(Math.random())]) {
    let runs = 0;
    const { call, flights } = sharing(() => ++runs, { keyOf });
    expect(await Promise.all([call(), call()])).toEqual([1, 2]);
    expect(flights.size).toBe(0);
  }
});

test('a result that is there already is taken, and nothing runs', async () => {
  const known = normaliseReturn('known');
  const asked: string[] = [];
  const lookUp = (key: string) => {
    asked.push(key);
    return known;
  };
  const { call } = sharing(() => expect.unreachable(), { lookUp });
  expect([await call(), asked]).toEqual([known, ['same']]);
});

test('who waits gets a copy of its own', async () => {
  const { execute, runs, next } = waiting();
  const { call } = sharing(execute);
  const begun = next();
  const first = call();
  await begun;
  const others = [call(), call()];
  runs[0]?.resolve({ content: [], structuredContent: { a: 1 } });
  const [one, two] = (await Promise.all(others)) as { structuredContent: object }[];
  expect(await first).toEqual({ content: [], structuredContent: { a: 1 } });
  expect(one).toMatchObject({ structuredContent: { a: 1 } });
  expect(one?.structuredContent).not.toBe(two?.structuredContent);
  expect(runs).toHaveLength(1);
});

test('an abort of the call that runs lets the others run, whatever its handler does', async () => {
  const { execute, runs, next } = waiting();
  const { call, flights } = sharing(execute);
  const controller = new AbortController();
  const begun = next();
  const first = call({ signal: controller.signal });
  await begun;
  const second = call();
  const again = next();
  controller.abort(new Error('enough'));
  await again;
  expect(runs).toHaveLength(2);
  runs[1]?.resolve('second');
  expect(await second).toBe('second');
  runs[0]?.resolve('first');
  await first;
  expect(flights.size).toBe(0);
});

test('an abort of a call that waits ends its wait alone', async () => {
  const { execute, runs, next } = waiting();
  const { call } = sharing(execute);
  const begun = next();
  const first = call();
  await begun;
  const controller = new AbortController();
  const second = call({ signal: controller.signal });
  controller.abort(new Error('enough'));
  await expect(second).rejects.toThrow('enough');
  runs[0]?.resolve('first');
  expect(await first).toBe('first');
});

test.each(['requestConfirmation', 'requestCredential'])(
  'what a handler returns after %s is shared with nobody',
  async (name) => {
    const { execute, runs, next } = waiting();
    const asked: unknown[] = [];
    const context = { [name]: (question: unknown) => void asked.push(question) } as Partial<ToolCallContext<never>>;
    const { call } = sharing(async (args, given) => {
      (given as unknown as Record<string, (question: unknown) => void>)[name]?.('may I?');
      return execute(args, given);
    });
    const begun = next();
    const first = call(context);
    await begun;
    const second = call(context);
    const again = next();
    runs[0]?.resolve('asked');
    await again;
    runs[1]?.resolve('second');
    expect([await first, await second, asked]).toEqual(['asked', 'second', ['may I?', 'may I?']]);
  },
);

test('a handler has the context of its call', async () => {
  const shown: unknown[] = [];
  const { call } = sharing((_, { callId, progress, signal }) => {
    progress('half' as never);
    return [callId, signal.aborted];
  });
  expect(await call({ progress: (update) => void shown.push(update) })).toEqual(['c1', false]);
  expect(shown).toEqual(['half']);
});

test('a handler runs with leave for this very call, and gets arguments of its own', async () => {
  const tool = toolOf((args) => Object.assign(args as object, { changed: true }));
  const decision = await approved();
  await expect(runHandler(decision, tool, contextOf('other'))).rejects.toMatchObject({ code: 'E_TOOL' });
  await expect(runHandler({ ...decision } as never, tool, contextOf('c1'))).rejects.toMatchObject({ code: 'E_TOOL' });
  for (const forged of [undefined, null, 'yes', {}]) {
    await expect(runHandler(forged as never, tool, contextOf('c1'))).rejects.toMatchObject({
      status: 'PERMISSION_DENIED',
    });
  }
  expect(await runHandler(decision, tool, contextOf('c1'))).toEqual({ changed: true });
  expect(decision.args).toEqual({});
  const none = { ...tool, execute: undefined } as unknown as AnyTool;
  await expect(runHandler(decision, none, contextOf('c1'))).rejects.toMatchObject({ status: 'FAILED_PRECONDITION' });
});

test('a tool of a provider keeps what it says of itself', () => {
  const descriptor = { name: 'pay', description: 'pays', annotations: { readOnly: true } };
  const made = providedTool({ execute: async () => 1 } as never, descriptor as never);
  expect(made).toEqual({ ...descriptor, execute: expect.any(Function) });
});
