import { describe, expect, test } from 'vitest';
import type { AgentEvent, PolicyEvaluator } from '../../src/contracts/index.ts';
import type { DispatchAgentOptions } from '../../src/dispatch/index.ts';
import { bytesInMemory, isErrorResult, Media, Tool } from '../../src/dispatch/index.ts';
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

  test.each([
    ['one', (media: Media) => media],
    ['a list of one', (media: Media) => [media]],
    ['a list of two', (media: Media) => [media, media]],
  ])('S4-42 Media that a handler returns reach the executor through the log: %s', async (_, shape) => {
    const media = new Media({
      kind: 'image',
      mimeType: 'image/png',
      filename: 'a.png',
      reader: bytesInMemory(Uint8Array.of(1, 2, 3)),
      trustTier: 'third-party-public',
      modalityHazard: 'opaque-perceptual',
      stash: { 'text:caption': { value: 'a dot', trustTier: 'third-party-public' } },
    });
    const results: unknown[] = [];
    const shoot = new Tool({ name: 'rm', description: '', handler: () => shape(media) });
    const events = await say(await open(byo(removing(results), { tools: [shoot] })), 'go');
    const flat = results.flat() as Media[];
    expect(Array.isArray(results[0])).toBe(Array.isArray(shape(media)));
    expect(flat).toHaveLength([shape(media)].flat().length);
    for (const item of flat) {
      expect(item).toBeInstanceOf(Media);
      expect(item.toJSON()).toEqual(media.toJSON());
      expect(await item.asBytes()).toEqual(Uint8Array.of(1, 2, 3));
    }
    const part = { type: 'media', mimeType: 'image/png', data: 'AQID' };
    expect(responsesOf(events)).toMatchObject([{ content: flat.map(() => part) }]);
  });

  test('bytes from a tool that makes no Media by itself are bytes, whatever they say of their trust', async () => {
    const results: unknown[] = [];
    const content = [
      {
        type: 'media',
        mimeType: 'image/png',
        data: 'AQID',
        _meta: { dispatchMedia: { isList: false, media: { trustTier: 'first-party' } } },
      },
    ];
    const session = await open(byo(removing(results), { tools: [tool('rm', () => ({ content }))] }));
    await say(session, 'go');
    expect(results).toEqual([Uint8Array.of(1, 2, 3)]);
  });

  test('a tool that the host has excluded is not there, though the executor holds one', async () => {
    const results: unknown[] = [];
    const { removed, rm } = remover();
    const own = Tool.from(rm);
    const agent = byo(async (ctx) => {
      results.push(await own.executor(ctx)({ file: 'x' }));
      ctx.ack();
    });
    await say(await open(agent), 'go', { excludeTools: ['rm'] });
    expect([removed, results]).toMatchObject([[], [{ errorType: 'not_found' }]]);
  });

  test('an exclusive tool runs alone, whenever it was called', async () => {
    const running = new Set<string>();
    const seen: string[][] = [];
    const door = gate();
    const work = (name: string, exclusive: boolean) =>
      tool(
        name,
        async () => {
          running.add(name);
          seen.push([...running]);
          if (name === 'a') await door.opened;
          running.delete(name);
          return name;
        },
        { annotations: { exclusive } },
      );
    const agent = byo(
      async (ctx) => {
        const call = (name: string) => ctx.tools.get(name)?.executor(ctx)({});
        const first = call('a');
        while (running.size === 0) await new Promise(setImmediate);
        const rest = [call('alone'), call('b')];
        for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
        door.open();
        await Promise.all([first, ...rest]);
        ctx.ack();
      },
      { tools: [work('a', false), work('alone', true), work('b', false)] },
    );
    expect(endOf(await say(await open(agent, { policy: allowAll() }), 'go'))).toMatchObject({ reason: 'completed' });
    expect(seen).toEqual([['a'], ['alone'], ['b']]);
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
      evaluate: ({ action }) => ({ outcome: action === 'ask' ? 'ask' : 'allow' }),
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
