import { describe, expect, test } from 'vitest';
import type { DispatchContext } from '../../src/dispatch/index.ts';
import { dispatchAgent } from '../../src/dispatch/index.ts';
import { allowAll, createHost, fromAgent } from '../../src/index.ts';
import { SequentialAgent } from '../../src/runtime/index.ts';
import { collect } from '../runtime/kit.ts';
import { byo, endOf, open, say } from './agent-kit.ts';
import { clock, serve } from './battery-kit.ts';
import { words } from './chat-server.ts';
import { desk, message } from './kit.ts';

const clockOf = (ctx: DispatchContext) => ctx.tools.get('clock')?.executor(ctx)({});
const errorOf = (events: Awaited<ReturnType<typeof say>>) => events.find(({ type }) => type === 'error');

describe('an executor that never signals', () => {
  test('CASE-F4 a battery that nobody acknowledges is asked ten times', async () => {
    await using at = await serve(...Array.from({ length: 12 }, () => words('hello')));
    const agent = dispatchAgent({ name: 'bot', executor: at.adapter({ autoAck: false }).executor() });
    const events = await collect((await open(agent)).stream('hi'));
    expect(at.server.requests).toHaveLength(10);
    expect(errorOf(events)).toMatchObject({
      code: 'E_EXECUTOR_SILENT',
      message: expect.stringContaining('returned without a signal and without a tool call 10 times in a row'),
    });
    expect(endOf(events)).toMatchObject({ type: 'stream_end', reason: 'failed' });
  });

  test.each([
    ['shows a delta', {}, 10],
    ['shows a delta', { watchdog: { unsignalledRuns: 3 } }, 3],
    ['shows a delta', { watchdog: { silenceMs: 1000 } }, 10],
  ])('CASE-F4 one that only %s is no busy loop: %j', async (_, more, expected) => {
    let runs = 0;
    const agent = byo((_ctx, { reportMessage }) => reportMessage(`m${runs++}`, 'x'), more);
    const events = await say(await open(agent), 'hi');
    expect(runs).toBe(expected);
    expect(errorOf(events)).toMatchObject({ code: 'E_EXECUTOR_SILENT' });
  });

  test('CASE-F4 a tool starts the count anew, stored messages do not', async () => {
    let runs = 0;
    const { runner } = desk(
      async (ctx) => {
        runs++;
        await ctx.storeMessage(message(`m${runs}`, 'more'));
        if (runs === 2) await clockOf(ctx);
      },
      { watchdog: { unsignalledRuns: 3 }, tools: [clock] },
    );
    expect(await runner.run()).toMatchObject({ status: 'nack', error: { code: 'E_EXECUTOR_SILENT' } });
    expect(runs).toBe(5);
  });
});

describe('limits of a turn', () => {
  test('CASE-F4 steps count the runs of all executors of the tree', async () => {
    const runs: string[] = [];
    const looping = (name: string, times: number) =>
      dispatchAgent({
        name,
        tools: [clock],
        executor: async (ctx) => {
          runs.push(name);
          await clockOf(ctx);
          if (runs.filter((other) => other === name).length === times) ctx.ack();
        },
      });
    const tree = new SequentialAgent({ name: 'tree', subAgents: [looping('a', 2), looping('b', 100)] });
    const events = await collect((await open(tree, { policy: allowAll() })).stream('hi', { limits: { steps: 5 } }));
    expect(runs).toEqual(['a', 'a', 'b', 'b', 'b']);
    expect(errorOf(events)).toMatchObject({
      code: 'E_MAX_LLM_CALLS',
      fatal: false,
      message: 'the turn has made 5 steps; send a new message to proceed',
    });
    expect(endOf(events)).toMatchObject({ reason: 'max_turns' });
  });

  test('CASE-F4 a new turn has steps of its own', async () => {
    let runs = 0;
    const agent = byo(
      async (ctx) => {
        if (++runs % 2 === 0) ctx.ack();
      },
      { tools: [clock] },
    );
    const session = await open(agent, { policy: allowAll() });
    for (const input of ['one', 'two']) {
      expect(endOf(await say(session, input, { limits: { steps: 2 } }))).toMatchObject({ reason: 'completed' });
    }
  });

  test("T7 what was cached counts at its own price against the host's budget", async () => {
    const usage = {
      prompt_tokens: 1000,
      completion_tokens: 10,
      prompt_tokens_details: { cached_tokens: 900, cache_write_tokens: 50 },
      completion_tokens_details: { reasoning_tokens: 4 },
    };
    const asked = { id: 'c1', type: 'function', function: { name: 'clock', arguments: '{}' } };
    const reply = (message: object) => ({ json: { model: 'small', choices: [{ index: 0, message }], usage } });
    await using at = await serve(reply({ content: null, tool_calls: [asked] }), reply({ content: 'hello' }));
    const agent = dispatchAgent({ name: 'bot', executor: at.adapter({ stream: false }).executor(), tools: [clock] });
    const host = createHost({
      app: 'shop',
      agents: [fromAgent(agent)],
      policy: allowAll(),
      // USD: 50 fresh at 1, 900 read at 0.1, 50 written at 2, 10 put out at 10: 340 a million.
      prices: { small: { input: 1, cachedRead: 0.1, cacheWrite: 2, output: 10 } },
    });
    const session = await host.open('bot');
    const events = await collect(session.stream('hi', { limits: { usd: 0.0008 } }));
    expect(events.find(({ type }) => type === 'usage')).toMatchObject({
      model: 'small',
      inputTokens: 1000,
      outputTokens: 10,
      cachedReadTokens: 900,
      cacheWriteTokens: 50,
      thoughtTokens: 4,
    });
    expect(endOf(events)).toMatchObject({ reason: 'completed' });
  });

  test('CASE-F4 tokens that an executor reports end the turn before its next run', async () => {
    let runs = 0;
    const agent = byo(
      async (ctx, { reportGenerationStats }) => {
        runs++;
        reportGenerationStats({ promptTokens: 10, completionTokens: 10 });
        await clockOf(ctx);
      },
      { tools: [clock] },
    );
    const session = await open(agent, { policy: allowAll() });
    const events = await collect(session.stream('hi', { limits: { tokens: 30 } }));
    expect(runs).toBe(2);
    expect(endOf(events)).toMatchObject({ reason: 'max_budget' });
  });
});
