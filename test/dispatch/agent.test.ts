import { describe, expect, test } from 'vitest';
import type { DispatchAgentOptions } from '../../src/dispatch/index.ts';
import { bytesInMemory, DispatchBuses, dispatchAgent, Media, Message, Tool } from '../../src/dispatch/index.ts';
import { fromAgent } from '../../src/index.ts';
import { SequentialAgent } from '../../src/runtime/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { gate, llm } from '../runtime/kit.ts';
import { byo, endOf, open, remover, say, texts, types } from './agent-kit.ts';
import { call, codeOf, message } from './kit.ts';

describe('an executor as an agent', () => {
  test('S4-27 a stub completes the turn', async () => {
    const session = await open(byo((ctx) => ctx.ack()));
    expect(endOf(await say(session, 'hi'))).toMatchObject({ type: 'stream_end', reason: 'completed' });
  });

  test('S4-05 S4-11 S4-13 what is reported is live, what is stored is in the log and in the next turn', async () => {
    const seen: string[][] = [];
    const session = await open(
      byo(async (ctx, { reportMessage }) => {
        seen.push([...ctx.turnMessages].map(({ role, content }) => `${role}: ${content}`));
        const id = `a${seen.length}`;
        reportMessage(id, 'Hel');
        reportMessage(id, 'lo', { isComplete: true });
        await ctx.storeMessage(message(id, 'Hello'));
        ctx.ack();
      }),
    );
    const events = await say(session, 'one');
    expect(events.filter((event) => event.type === 'message' && event.partial)).toHaveLength(2);
    expect(texts(events)).toEqual(['Hello']);
    await say(session, 'two');
    expect(seen).toEqual([['user: one'], ['user: one', 'assistant: Hello', 'user: two']]);
  });

  test('S4-24 reported and not stored: the host sees the end of it, the executor does not remember it', async () => {
    const seen: number[] = [];
    const session = await open(
      byo((ctx, { reportMessage, reportThought }) => {
        seen.push(ctx.turnMessages.size);
        reportThought(`x${seen.length}`, 'hm');
        reportMessage(`x${seen.length}`, 'half');
        ctx.ack();
      }),
    );
    const events = await say(session, 'one');
    expect(events.filter((event) => event.type === 'message' && event.interrupted)).toHaveLength(2);
    await say(session, 'two');
    expect(seen).toEqual([1, 2]);
  });

  test('what was shown otherwise than it is stored is replaced', async () => {
    const session = await open(
      byo(async (ctx, { reportMessage }) => {
        reportMessage('m', 'draft');
        await ctx.storeMessage(message('m', 'fair copy'));
        ctx.ack();
      }),
    );
    expect(texts(await say(session, 'hi'))).toEqual(['fair copy']);
  });

  test('S4-12 nack fails the turn with the error’s own words', async () => {
    const session = await open(byo((ctx) => ctx.nack(new Error('quota'))));
    const events = await say(session, 'hi');
    expect(events.find(({ type }) => type === 'error')).toMatchObject({
      code: 'E_LLM_EXECUTION_NACKED',
      message: 'quota',
    });
    expect(endOf(events)).toMatchObject({ reason: 'failed' });
  });

  test('S4-20 S4-33 a throw and a silent executor fail the turn, typed', async () => {
    const thrown = await say(await open(byo(() => Promise.reject(new Error('broken')))), 'hi');
    expect(thrown.find(({ type }) => type === 'error')).toMatchObject({ code: 'E_LLM_EXECUTION_EXECUTOR_ERROR' });
    for (const more of [{ watchdog: { idleRuns: 2 } }, {}]) {
      const silent = await say(await open(byo(() => {}, more)), 'hi');
      expect(silent.find(({ type }) => type === 'error')).toMatchObject({ code: 'E_EXECUTOR_SILENT' });
    }
  });

  test('ctx.abort() ends the turn as aborted', async () => {
    const events = await say(await open(byo((ctx) => ctx.abort('enough'))), 'hi');
    expect(endOf(events)).toMatchObject({ reason: 'aborted' });
    expect(types(events)).not.toContain('error');
  });

  test('S4-40 S4-52 pipelines, prompt, stash and buses are the agent’s own', async () => {
    const steps: unknown[] = [];
    const buses = new DispatchBuses().observe('turnEnd', ({ status }) => steps.push(status));
    const agent = byo(
      (ctx) => {
        steps.push(ctx.systemPrompt, ctx.stash.get('k'));
        ctx.ack();
      },
      {
        buses,
        systemPrompt: 'be kind',
        stash: { k: 1 },
        turnInputPipeline: [
          (_, next) => {
            steps.push('in');
            return next();
          },
        ],
      },
    );
    await say(await open(agent), 'hi');
    expect(steps).toEqual(['in', 'be kind', 1, 'ack']);
  });

  test('S4-23 stored tool calls are counted in their turn only', async () => {
    const counts: number[] = [];
    const record = call('c', 'find', { q: 1 }, { n: 2 });
    const session = await open(
      byo(async (ctx) => {
        counts.push(ctx.toolCallCount(record.checksum));
        await ctx.storeToolCall(record);
        counts.push(ctx.toolCallCount(record.checksum));
        ctx.ack();
      }),
    );
    await say(session, 'one');
    await say(session, 'two');
    expect(counts).toEqual([0, 1, 0, 1]);
  });

  test('F50 a store is exactly once: the same again is acknowledged, something else refused', async () => {
    const session = await open(
      byo(async (ctx) => {
        await ctx.storeMessage(message('m', 'x'));
        await ctx.storeMessage(message('m', 'x'));
        expect(await codeOf(() => ctx.storeMessage(message('m', 'y')))).toBe('E_EVENT_EXISTS');
        ctx.ack();
      }),
    );
    const events = await say(session, 'hi');
    expect([texts(events), endOf(events)]).toMatchObject([['x'], { reason: 'completed' }]);
  });

  test('F49 a report that follows the stored message is not shown', async () => {
    const session = await open(
      byo(async (ctx, { reportMessage }) => {
        await ctx.storeMessage(message('m', 'x'));
        reportMessage('m', 'late');
        ctx.ack();
      }),
    );
    const events = await say(session, 'hi');
    expect(events.filter((event) => event.type === 'message' && event.partial)).toEqual([]);
    expect(endOf(events)).toMatchObject({ reason: 'completed' });
  });

  test('a deleted or changed message is deleted or changed in the next turn too', async () => {
    let turn = 0;
    let seen: (string | undefined)[] = [];
    const session = await open(
      byo(async (ctx) => {
        if (turn++ === 0) {
          await ctx.storeMessage(message('a', 'one'));
          await ctx.storeMessage(message('b', 'two'));
          await ctx.mutateMessage(message('a', 'uno'));
          await ctx.deleteMessage('b');
        }
        seen = [...ctx.turnMessages].map(({ content }) => content);
        ctx.ack();
      }),
    );
    await say(session, 'hi');
    expect(seen).toEqual(['hi', 'uno']);
    await say(session, 'again');
    expect(seen).toEqual(['hi', 'uno', 'again']);
  });

  test('S4-42 S4-47 attachments keep bytes, trust and hazard through the log', async () => {
    const media: unknown[] = [];
    const session = await open(
      byo(async (ctx) => {
        const known = [...ctx.turnMessages].flatMap(({ attachments }) => attachments);
        for (const item of known) media.push([item.trustTier, item.kind, item.filename, await item.asBase64()]);
        if (known.length === 1) {
          const own = new Media({
            kind: 'document',
            mimeType: 'application/pdf',
            filename: 'r.pdf',
            reader: bytesInMemory('pdf'),
            trustTier: 'first-party',
            modalityHazard: 'extractable-instructions',
          });
          await ctx.storeMessage(
            new Message({ id: 'm', role: 'assistant', attachments: [own], createdAt: 0, updatedAt: 0 }),
          );
        }
        ctx.ack();
      }),
    );
    const content = [{ type: 'media' as const, mimeType: 'image/png', data: 'AQL/' }];
    await say(session, { kind: 'message', content });
    await say(session, 'and?');
    expect(media).toEqual([
      ['third-party-private', 'image', 'file', 'AQL/'],
      ['third-party-private', 'image', 'file', 'AQL/'],
      ['first-party', 'document', 'r.pdf', 'cGRm'],
    ]);
  });

  test('ATK4-05 sibling: what a caller says of the trust of its attachment counts for nothing', async () => {
    const media: unknown[] = [];
    const session = await open(
      byo((ctx) => {
        for (const { attachments } of ctx.turnMessages)
          for (const { trustTier, modalityHazard, kind, filename } of attachments)
            media.push([trustTier, modalityHazard, kind, filename]);
        ctx.ack();
      }),
    );
    const said = { trustTier: 'first-party', modalityHazard: 'opaque-perceptual', kind: 'image', filename: 'a.pdf' };
    const part = { type: 'media' as const, mimeType: 'application/pdf', data: 'AQL/', _meta: { media: said } };
    await say(session, { kind: 'message', content: [part] });
    expect(media).toEqual([['third-party-private', 'extractable-instructions', 'document', 'a.pdf']]);
  });

  test('generation stats are the session’s usage', async () => {
    const session = await open(
      byo((ctx, helpers) => {
        helpers.reportGenerationStats({ promptTokens: 3, completionTokens: 4, model: 'm' });
        ctx.ack();
      }),
    );
    const events = await say(session, 'hi');
    expect(events.find(({ type }) => type === 'usage')).toMatchObject({ model: 'm', inputTokens: 3, outputTokens: 4 });
  });

  test('it takes its place in a tree: sequence, and history of others', async () => {
    const model = new ScriptedModel(['planned']);
    let seen: (string | undefined)[] = [];
    const agent = byo(async (ctx) => {
      seen = [...ctx.turnMessages].map(({ content }) => content);
      await ctx.storeMessage(message('m', 'done'));
      ctx.ack();
    });
    const session = await open(new SequentialAgent({ name: 'seq', subAgents: [llm('planner', model), agent] }));
    expect(texts(await say(session, 'go'))).toEqual(['planned', 'done']);
    expect(seen).toEqual(['go', '[planner] planned']);
  });

  test('words of a steer reach the next run of the executor', async () => {
    const running = gate();
    const steered = gate();
    const seen: (string | undefined)[][] = [];
    const session = await open(
      byo(async (ctx) => {
        seen.push([...ctx.turnMessages].map(({ content }) => content));
        if (ctx.iteration === 1) return ctx.ack();
        running.open();
        await steered.opened;
      }),
    );
    const stream = say(session, 'go');
    await running.opened;
    await session.steer({ content: 'faster' });
    steered.open();
    expect(endOf(await stream)).toMatchObject({ reason: 'completed' });
    expect(seen).toEqual([['go'], ['go', 'faster']]);
  });

  test('words for one that waits for the host are among its messages when it goes on', async () => {
    const theirs = { name: 'theirs', description: '', inputSchema: { type: 'object' }, annotations: {} };
    const options = { tools: [theirs], hostToolExecution: true };
    const seen: (string | undefined)[][] = [];
    const session = await open(
      byo(async (ctx) => {
        const look = () => seen.push([...ctx.turnMessages].map(({ content }) => content));
        look();
        await ctx.tools.get('theirs')?.executor(ctx)({});
        look();
        ctx.ack();
      }),
    );
    await say(session, 'go', options);
    const [call] = await session.pending();
    expect(await session.steer({ content: 'faster' })).toMatchObject({ disposition: 'current_turn' });
    const result = { content: [{ type: 'text' as const, text: 'ok' }] };
    const decision = { outcome: 'approved' as const, by: 'user:ann' };
    const requestId = call?.requestId ?? '';
    const events = await say(session, { kind: 'tool_result', requestId, result, decision }, options);
    expect(endOf(events)).toMatchObject({ reason: 'completed' });
    expect(seen).toEqual([['go'], ['go', 'faster']]);
    const told = events.flatMap((event) => (event.type === 'custom' ? event.kind : event.type));
    expect(told.indexOf('steer_applied')).toBeGreaterThan(told.indexOf('tool_response'));
  });

  test('words that come too late for it do not run it again; they stand before the next message', async () => {
    const running = gate();
    const steered = gate();
    const seen: (string | undefined)[][] = [];
    const session = await open(
      byo(async (ctx) => {
        seen.push([...ctx.turnMessages].map(({ content }) => content));
        if (seen.length === 1) {
          running.open();
          await steered.opened;
        }
        ctx.ack();
      }),
    );
    const stream = say(session, 'go');
    await running.opened;
    await session.steer({ content: 'faster' });
    steered.open();
    expect(endOf(await stream)).toMatchObject({ reason: 'completed' });
    await say(session, 'again');
    expect(seen).toEqual([['go'], ['go', 'faster', 'again']]);
  });

  test('it says what it is: tools, and no resume', () => {
    const { rm } = remover();
    const agent = byo((ctx) => ctx.ack(), { tools: [rm, new Tool({ name: 'theirs', description: 'host' })] });
    const source = fromAgent(new SequentialAgent({ name: 'seq', subAgents: [agent] }));
    expect(source.descriptor.capabilities).not.toContain('resume');
    expect(source.descriptor.subAgents[0]).toMatchObject({
      ownTools: [{ name: 'rm' }],
      requiredTools: ['theirs'],
      capabilities: expect.arrayContaining(['host_tool_execution']),
    });
    expect(fromAgent(llm('plain', undefined)).descriptor.capabilities).toContain('resume');
  });

  test('an agent without an executor is refused', () => {
    expect(() => dispatchAgent({ name: 'x' } as DispatchAgentOptions)).toThrow(/executor/);
  });
});
