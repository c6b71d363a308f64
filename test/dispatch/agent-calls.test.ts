import { describe, expect, test } from 'vitest';
import type { AgentEvent, PolicyEvaluator } from '../../src/contracts/index.ts';
import type { DispatchAgentOptions } from '../../src/dispatch/index.ts';
import { isErrorResult } from '../../src/dispatch/index.ts';
import { allowAll, createHost } from '../../src/index.ts';
import { collect, gate, tool } from '../runtime/kit.ts';
import { asks, byo, denies, endOf, open, remover, responsesOf, say, texts, types } from './agent-kit.ts';
import { codeOf, message } from './kit.ts';

describe('inline tool calls', () => {
  const removing =
    (results: unknown[], files = ['x']): DispatchAgentOptions['executor'] =>
    async (ctx) => {
      for (const file of files) results.push(await ctx.tools.get('rm')?.executor(ctx)({ file }));
      await ctx.storeMessage(message('m', 'finished'));
      ctx.ack();
    };

  test('S4-22 a call is announced, decided, run and answered, and the executor gets the value', async () => {
    const { removed, rm } = remover();
    const results: unknown[] = [];
    const session = await open(byo(removing(results), { tools: [rm] }));
    const events = await say(session, 'go');
    expect([removed, results]).toEqual([['x'], [{ gone: 'x' }]]);
    expect(types(events)).toEqual(
      expect.arrayContaining(['tool_request', 'tool_update', 'custom', 'tool_response', 'message', 'stream_end']),
    );
  });

  test.each([
    ['text', 'text'],
    [{ a: 1 }, { a: 1 }],
    [
      [1, 2],
      [1, 2],
    ],
    [7, 7],
    [Uint8Array.of(1, 2), Uint8Array.of(1, 2)],
  ])('S4-32 a handler’s %j reaches the executor', async (returned, expected) => {
    const results: unknown[] = [];
    const session = await open(byo(removing(results), { tools: [tool('rm', () => returned)] }));
    await say(session, 'go');
    expect(results).toEqual([expected]);
  });

  test('a policy that denies gives an error result, and nothing runs', async () => {
    const { removed, rm } = remover();
    const results: unknown[] = [];
    const session = await open(byo(removing(results), { tools: [rm] }), { policy: denies });
    expect(endOf(await say(session, 'go'))).toMatchObject({ reason: 'completed' });
    expect(removed).toEqual([]);
    expect(results).toMatchObject([{ isError: true, errorType: 'denied' }]);
    expect(results.every(isErrorResult)).toBe(true);
  });

  test('wrong arguments and a handler that throws are error results too', async () => {
    const results: unknown[] = [];
    const picky = tool('rm', () => Promise.reject(new Error('disk')), {
      inputSchema: { type: 'object', properties: { file: { type: 'string' } } },
    });
    const agent = byo(removing(results, ['x', 7 as never, {} as never]), { tools: [picky] });
    await say(await open(agent), 'go');
    expect(results).toMatchObject([
      { errorType: 'failed' },
      { errorType: 'invalid_args' },
      { errorType: 'invalid_args' },
    ]);
  });

  test('an ask parks the executor; the approval resumes it where it stood', async () => {
    const { removed, rm } = remover();
    const results: unknown[] = [];
    const session = await open(byo(removing(results, ['x', 'y']), { tools: [rm] }), { policy: asks });
    expect(endOf(await say(session, 'go'))).toMatchObject({ reason: 'input_required' });
    for (const left of [1, 0]) {
      const [request] = await session.pending();
      expect(request).toMatchObject({ kind: 'elicitation', name: 'rm' });
      await session.respond(request?.requestId ?? '', { kind: 'approve' });
      expect(endOf(await say(session, { kind: 'continue' }))).toMatchObject({
        reason: left ? 'input_required' : 'completed',
      });
    }
    expect([removed, results]).toEqual([
      ['x', 'y'],
      [{ gone: 'x' }, { gone: 'y' }],
    ]);
  });

  test('a decline is an error result', async () => {
    const { removed, rm } = remover();
    const results: unknown[] = [];
    const session = await open(byo(removing(results), { tools: [rm] }), { policy: asks });
    await say(session, 'go');
    const [request] = await session.pending();
    await session.respond(request?.requestId ?? '', { kind: 'deny', reason: 'keep it' });
    expect(endOf(await say(session, { kind: 'continue' }))).toMatchObject({ reason: 'completed' });
    expect([removed, results]).toMatchObject([[], [{ errorType: 'denied' }]]);
  });

  test('calls side by side: one waits, its sibling’s result is there at once', async () => {
    const order: string[] = [];
    const policy: PolicyEvaluator = {
      evaluate: ({ action }) => ({ outcome: action === 'ask' ? 'ask_user' : 'allow' }),
    };
    const agent = byo(
      async (ctx) => {
        const run = async (name: string) => {
          await ctx.tools.get(name)?.executor(ctx)({});
          order.push(name);
        };
        await Promise.all([run('ask'), run('free')]);
        ctx.ack();
      },
      { tools: [tool('ask', () => 'a'), tool('free', () => 'b')] },
    );
    const session = await open(agent, { policy });
    await say(session, 'go');
    expect(order).toEqual(['free']);
    const [request] = await session.pending();
    await say(session, {
      kind: 'elicitation_response',
      requestId: request?.requestId ?? '',
      response: { action: 'accept' },
    });
    expect(order).toEqual(['free', 'ask']);
  });

  test('half a message before a call that waits is closed, and replaced by the whole', async () => {
    const { rm } = remover();
    const agent = byo(
      async (ctx, { reportMessage }) => {
        reportMessage('m', 'I will ');
        await ctx.tools.get('rm')?.executor(ctx)({ file: 'x' });
        reportMessage('m', 'remove it.', { isComplete: true });
        await ctx.storeMessage(message('m', 'I will remove it.'));
        ctx.ack();
      },
      { tools: [rm] },
    );
    const session = await open(agent, { policy: asks });
    expect(texts(await say(session, 'go'))).toEqual(['I will ']);
    const [request] = await session.pending();
    await session.respond(request?.requestId ?? '', { kind: 'approve' });
    expect(texts(await say(session, { kind: 'continue' }))).toEqual(['I will remove it.']);
  });

  test('a host runs the calls: its own tools, and the agent’s under its policy', async () => {
    const { removed, rm } = remover();
    const results: unknown[] = [];
    const agent = byo(
      async (ctx) => {
        results.push(await ctx.tools.get('rm')?.executor(ctx)({ file: 'x' }));
        results.push(await ctx.tools.get('clock')?.executor(ctx)({}));
        ctx.ack();
      },
      { tools: [rm] },
    );
    const host = createHost({ app: 'shop', agents: [agent], tools: [tool('clock', () => 'noon')], policy: allowAll() });
    const session = await host.open('byo');
    const events = await collect(session.stream('go'));
    expect(endOf(events)).toMatchObject({ reason: 'completed' });
    expect([removed, results]).toEqual([['x'], [{ gone: 'x' }, 'noon']]);
  });

  test('an agent’s abort while a call waits rejects it with the reason, and the turn ends', async () => {
    const { removed, rm } = remover();
    const rejected = gate<unknown>();
    const agent = byo(
      async (ctx) => {
        const running = ctx.tools.get('rm')?.executor(ctx)({ file: 'x' });
        running?.catch(rejected.open);
        await running;
      },
      { tools: [rm] },
    );
    const session = await open(agent, { policy: asks });
    await say(session, 'go');
    await session.abort({ reason: 'changed my mind' });
    expect(await rejected.opened).toMatchObject({ code: 'E_ABORTED', message: 'changed my mind' });
    expect([removed, await session.pending()]).toEqual([[], []]);
  });

  test('an abort while a tool runs rejects with the reason; nothing is written afterwards', async () => {
    const started = gate();
    const finish = gate();
    const rejected = gate<unknown>();
    const stored = gate<string>();
    const slow = tool('slow', async () => {
      started.open();
      await finish.opened;
      return 'late';
    });
    const agent = byo(
      async (ctx) => {
        try {
          await ctx.tools.get('slow')?.executor(ctx)({});
        } catch (error) {
          rejected.open(error);
          stored.open(await codeOf(() => ctx.storeMessage(message('m', 'late'))));
          ctx.nack(error);
        }
      },
      { tools: [slow] },
    );
    const session = await open(agent);
    const events: AgentEvent[] = [];
    const stream = (async () => {
      for await (const event of session.stream('go')) events.push(event);
    })();
    await started.opened;
    await session.abort({ reason: 'stop' });
    finish.open();
    await stream;
    expect(await rejected.opened).toMatchObject({ message: 'stop' });
    expect(await stored.opened).not.toBe('nothing was thrown');
    expect(responsesOf(events)).toMatchObject([{ errorType: 'interrupted' }]);
    expect(endOf(events)).toMatchObject({ reason: 'aborted' });
    const { length } = await collect(session.events());
    expect(await collect(session.events())).toHaveLength(length);
  });

  test('a new message while a call waits releases the executor', async () => {
    const { rm } = remover();
    const rejected: unknown[] = [];
    const agent = byo(
      async (ctx) => {
        if ([...ctx.turnMessages].at(-1)?.content === 'never mind') return ctx.ack();
        await ctx.tools
          .get('rm')
          ?.executor(ctx)({ file: 'x' })
          ?.catch((error: unknown) => rejected.push(error));
        throw rejected[0];
      },
      { tools: [rm] },
    );
    const session = await open(agent, { policy: asks });
    await say(session, 'go');
    expect(endOf(await say(session, 'never mind'))).toMatchObject({ reason: 'completed' });
    expect(rejected).toMatchObject([{ code: 'E_ABORTED' }]);
  });

  test('F49 a call that nobody waits for is settled with the executor’s end', async () => {
    const { removed, rm } = remover();
    const agent = byo(
      (ctx) => {
        void ctx.tools.get('rm')?.executor(ctx)({ file: 'x' });
        ctx.ack();
      },
      { tools: [rm] },
    );
    const session = await open(agent, { policy: asks });
    const events = await say(session, 'go');
    expect(endOf(events)).toMatchObject({ reason: 'completed' });
    expect([removed, await session.pending()]).toEqual([[], []]);
  });

  test('F50 the same call id is one call: announced once, run once', async () => {
    const { removed, rm } = remover();
    const agent = byo(
      async (ctx) => {
        const run = ctx.tools.get('rm')?.executor(ctx, { callId: 'c1' });
        expect(await run?.({ file: 'x' })).toEqual({ gone: 'x' });
        if (ctx.iteration === 1) ctx.ack();
      },
      { tools: [rm] },
    );
    const events = await say(await open(agent), 'go');
    expect(removed).toEqual(['x']);
    expect(responsesOf(events)).toHaveLength(1);
  });
});
