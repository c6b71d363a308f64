import { describe, expect, test } from 'vitest';
import { fromAgent } from '../../src/adapters/adk/index.ts';
import type { AgentSession, AnyTool } from '../../src/contracts/index.ts';
import { textOfParts } from '../../src/contracts/index.ts';
import type {
  Model,
  ModelRequest,
  ModelResponse,
  RunnerOptions,
  StoredEvent,
  Toolset,
} from '../../src/runtime/index.ts';
import { InMemoryArtifactService, InMemorySessionService, SequentialAgent } from '../../src/runtime/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import {
  bench,
  brief,
  callIds,
  endOf,
  errorOf,
  gate,
  host,
  key,
  llm,
  mortal,
  ownTool,
  responses,
  said,
  text,
  tool,
} from './kit.ts';

const calls = (...names: string[]) => ({ calls: names.map((name) => [name] as const) });

describe('the model', () => {
  test('S0-29 is asked with request, stream and signal; frames become deltas and one event', async () => {
    const asked: unknown[] = [];
    const own: Model = {
      name: 'own',
      async *generate(request: ModelRequest, options): AsyncGenerator<ModelResponse> {
        asked.push([request.model, request.agent, options.stream, options.signal.aborted]);
        yield { partial: true, content: text('he') };
        yield { partial: true, content: text('llo') };
        yield {
          content: text('hello'),
          turnComplete: true,
          finishReason: 'stop',
          model: 'own-2026-01',
          usage: { inputTokens: 1, outputTokens: 2 },
          citationMetadata: { from: 'a' },
          groundingMetadata: { on: 'b' },
          customMetadata: { mine: 1 },
        };
        asked.push('read on');
      },
    };
    const { frames } = bench(llm('bot', own));
    const events = await frames('hi');
    expect(events.filter(({ partial }) => partial).map(({ content }) => brief(content && [content])[0])).toEqual([
      'model: he',
      'model: llo',
    ]);
    expect(events.find(({ content, partial }) => content?.role === 'model' && !partial)).toMatchObject({
      content: text('hello'),
      partial: false,
      turnComplete: true,
      finishReason: 'stop',
      model: 'own-2026-01',
      usage: { inputTokens: 1, outputTokens: 2 },
      citationMetadata: { from: 'a' },
      groundingMetadata: { on: 'b' },
      customMetadata: { mine: 1 },
    });
    await frames('again', { streaming: false });
    expect(asked).toEqual([
      ['own', 'bot', true, false],
      ['own', 'bot', false, false],
    ]);
  });

  test('S0-29 without streaming no deltas are shown, whatever the model yields', async () => {
    const { frames } = bench(llm('bot', new ScriptedModel([{ deltas: ['a', 'b'] }])));
    const events = await frames('hi', { streaming: false });
    expect(events.some(({ partial }) => partial)).toBe(false);
    expect(said(events)).toEqual(['user: hi', 'bot: ab']);
  });

  test('S0-29 a model that ends without an answer, or with an error, fails the turn with a code', async () => {
    const silent: Model = { name: 'silent', async *generate() {} };
    const events = await bench(llm('bot', silent)).say('hi');
    expect(errorOf(events)).toEqual({ code: 'E_MODEL_EMPTY', message: 'model silent ended without an answer' });
    const busy: Model = {
      name: 'busy',
      async *generate() {
        yield { errorCode: 'http_503', errorMessage: 'busy', retryable: true };
      },
    };
    const second = await bench(llm('bot', busy)).say('hi');
    expect(second.find(({ errorCode }) => errorCode)).toMatchObject({
      errorCode: 'E_MODEL',
      errorMessage: 'busy',
      error: { status: 'UNAVAILABLE', fatal: true, retryable: true, details: { errorCode: 'http_503' } },
    });
  });
});

describe('S0-44 an LLM agent', () => {
  test('has model, tools, toolsets, instructions, callbacks and sub-agents', async () => {
    const model = new ScriptedModel([calls('own', 'lent'), 'ok']);
    const lent: Toolset = { name: 'lender', tools: () => [tool('lent', () => 'l')] };
    const trace: string[] = [];
    const agent = llm('bot', model, {
      description: 'all of it',
      tools: [tool('own', () => 'o')],
      toolsets: [lent],
      instruction: 'Be kind.',
      globalInstruction: 'Be brief.',
      subAgents: [llm('clerk', undefined)],
      beforeAgent: () => void trace.push('before'),
      afterAgent: () => void trace.push('after'),
    });
    expect(responses(await bench(agent).say('hi'))).toEqual({ own: { content: 'o' }, lent: { content: 'l' } });
    expect(model.requests[0]).toMatchObject({
      tools: ['own', 'lent', 'transfer_to_agent'],
      systemInstruction: expect.stringMatching(/^Be brief\.\n\nBe kind\./),
    });
    expect(trace).toEqual(['before', 'after']);
  });

  test('two tools of one name are refused at construction', () => {
    const twice = [tool('look', () => 1), tool('look', () => 2)];
    expect(() => llm('bot', undefined, { tools: twice })).toThrow(
      expect.objectContaining({ code: 'E_DUPLICATE_TOOL', message: 'agent bot has two tools named look' }),
    );
  });
});

describe('calls', () => {
  test('S0-30 all calls of a response run side by side; each is stored as it ends, the model sees one content in call order', async () => {
    const gates = { a: gate(), b: gate(), c: gate() };
    const running: string[] = [];
    const tools = (['a', 'b', 'c'] as const).map((name) =>
      ownTool(name, async (_, context) => {
        running.push(name);
        if (running.length === 3) gates.c.open();
        await gates[name].opened;
        context.state.set(name, running.length);
        context.state.set('last', name);
        return { from: name };
      }),
    );
    const model = new ScriptedModel([calls('a', 'b', 'c'), 'ok']);
    const { runner, state } = bench(llm('bot', model, { tools }));
    const order: string[] = [];
    for await (const event of runner.run({ userId: key.userId, sessionId: key.id, input: 'hi', streaming: false })) {
      const part = event.content?.parts[0];
      if (part?.type !== 'function_response') continue;
      order.push(part.name);
      // The next one ends only when this one has been seen in the stream.
      if (part.name === 'c') gates.b.open();
      if (part.name === 'b') gates.a.open();
    }
    expect([running, order]).toEqual([
      ['a', 'b', 'c'],
      ['c', 'b', 'a'],
    ]);
    expect(brief(model.requests[1]?.contents)).toEqual([
      'user: hi',
      'model: call a({}) | call b({}) | call c({})',
      'user: a = {"from":"a"} | b = {"from":"b"} | c = {"from":"c"}',
    ]);
    // Deltas apply in the order of the log.
    expect(await state()).toEqual({ a: 3, b: 3, c: 3, last: 'a' });
  });

  test('S0-30 the actions of all are applied', async () => {
    const tools = [
      ownTool('skip', (_, context) => context.skipSummarization()),
      ownTool('set', (_, context) => context.state.set('k', 1)),
      ownTool('leave', (_, context) => context.escalate()),
    ];
    const model = new ScriptedModel([calls('skip', 'set', 'leave'), 'never']);
    const { say, state } = bench(
      new SequentialAgent({ name: 'all', subAgents: [llm('a', model, { tools }), llm('b', model)] }),
    );
    const events = await say('hi');
    // Escalated: neither the model again nor the sibling.
    expect([model.requests.length, endOf(events), await state()]).toEqual([1, 'completed', { k: 1 }]);
  });

  test('S0-30 skipSummarization ends the agent only if every call of the batch says so', async () => {
    const skip = ownTool('skip', (_, context) => context.skipSummarization());
    const model = new ScriptedModel([calls('skip', 'plain'), calls('skip', 'skip'), 'never']);
    const { say } = bench(llm('bot', model, { tools: [skip, tool('plain', () => 1)] }));
    expect(endOf(await say('hi'))).toBe('completed');
    expect(model.requests).toHaveLength(2);
  });

  test('S0-30 exclusive tools run alone, and no more than toolConcurrency at once', async () => {
    let now = 0;
    const most: Record<string, number> = {};
    const busy = (name: string, exclusive: boolean) =>
      tool(
        name,
        async () => {
          now++;
          most[name] = Math.max(most[name] ?? 0, now);
          for (let n = 0; n < 5; n++) await Promise.resolve();
          now--;
        },
        { annotations: { exclusive, readOnly: true } },
      );
    const tools = [busy('shared', false), busy('alone', true)];
    const script = calls('shared', 'shared', 'shared', 'alone', 'shared', 'shared', 'shared');
    const { say } = bench(llm('bot', new ScriptedModel([script, 'ok']), { tools }), { toolConcurrency: 2 });
    await say('hi');
    expect(most).toEqual({ shared: 2, alone: 1 });
  });

  test('S0-31 F16 an unknown tool is an error result naming the valid ones; its sibling runs, the loop goes on', async () => {
    const told: unknown[] = [];
    const evaluated: string[] = [];
    const model = new ScriptedModel([{ calls: [['serach'], ['search', { q: 'x' }], ['']] }, 'sorry']);
    const { say } = bench(llm('bot', model, { tools: [tool('search', ({ q }) => ({ found: q }))] }), {
      plugins: [
        {
          name: 'log',
          onToolError: (context, { name }, args, error) => {
            told.push([name, args, (error as Error).message, context.callId.length > 0]);
            return undefined;
          },
        },
      ],
      policy: {
        evaluate: ({ action }) => {
          evaluated.push(action);
          return { outcome: 'allow' };
        },
      },
    });
    const events = await say('hi');
    expect(brief(model.requests[1]?.contents).at(-1)).toBe(
      'user: serach = {"error":"Tool not found: serach. Valid tools: search"} | search = {"found":"x"} | ' +
        ' = {"error":"Tool not found: . Valid tools: search"}',
    );
    expect([told, evaluated, endOf(events)]).toEqual([
      [
        ['serach', {}, 'there is no tool serach', true],
        ['', {}, 'there is no tool ', true],
      ],
      ['search'],
      'completed',
    ]);
  });

  test('F16 an on_tool_error hook may answer for a tool that is not there', async () => {
    const { say } = bench(llm('bot', new ScriptedModel([calls('serach'), 'ok'])), {
      plugins: [{ name: 'alias', onToolError: (_, { name }) => ({ meant: name === 'serach' ? 'search' : '' }) }],
    });
    expect(responses(await say('hi'))).toEqual({ serach: { meant: 'search' } });
  });

  test('F16 endless repeats are cut by the cap', async () => {
    const model = new ScriptedModel(Array.from({ length: 10 }, () => calls('nothing')));
    const events = await bench(llm('bot', model, { maxIterations: 4 })).say('hi');
    expect([model.requests.length, errorOf(events)?.code]).toEqual([4, 'E_MAX_ITERATIONS']);
  });

  test('S0-68 a tool that throws is an error response; null, undefined and text come back as they are', async () => {
    const tools: AnyTool[] = [
      tool('throws', () => {
        throw new Error('no disk');
      }),
      tool('rejects', async () => Promise.reject('plain text')),
      tool('nothing', () => undefined),
      tool('nil', () => null),
      tool('list', () => [1, 'a']),
      tool('map', () => ({ a: 1 })),
    ];
    const model = new ScriptedModel([calls('throws', 'rejects', 'nothing', 'nil', 'list', 'map'), 'ok']);
    const events = await bench(llm('bot', model, { tools })).say('hi');
    expect(responses(events)).toEqual({
      throws: { error: 'no disk' },
      rejects: { error: 'plain text' },
      nothing: { content: '' },
      nil: { content: null },
      list: { content: [1, 'a'] },
      map: { a: 1 },
    });
    const failed = events.flatMap(({ content }) => content?.parts ?? []).filter((part) => 'isError' in part);
    expect(failed).toMatchObject([
      { name: 'throws', isError: true, errorType: 'failed' },
      { name: 'rejects', isError: true, errorType: 'failed' },
    ]);
    expect(endOf(events)).toBe('completed');
  });

  test('S0-68 a long-running tool’s first word answers the call, once; the turn does not wait for the rest', async () => {
    let words = 0;
    const render = tool(
      'render',
      async function* () {
        words++;
        yield { status: 'queued' };
        words++;
      },
      { annotations: { longRunning: true } },
    );
    const model = new ScriptedModel([calls('render'), 'rendering, please wait', 'it is there']);
    const { say } = bench(llm('bot', model, { tools: [render] }));
    const first = await say('render');
    expect(first.find(({ longRunningToolIds }) => longRunningToolIds.length > 0)?.longRunningToolIds).toEqual(
      callIds(first),
    );
    expect(brief(model.requests[1]?.contents).at(-1)).toBe('user: render = {"status":"queued"}');
    expect([endOf(first), words]).toEqual(['completed', 1]);
    const requestId = String(callIds(first)[0]);
    const second = await say({
      kind: 'tool_result',
      requestId,
      result: { content: [{ type: 'text', text: 'film.mp4' }] },
    });
    expect(endOf(second)).toBe('completed');
    expect(brief(model.requests[2]?.contents).at(-1)).toContain(
      `The result of the earlier call ${requestId} to tool render has come: {"content":"film.mp4"}`,
    );
  });
});

describe('S0-32 toolsets', () => {
  test('are asked before each request; a step’s calls run with the tools that were offered in it', async () => {
    const asked: string[] = [];
    const growing: Toolset = {
      name: 'growing',
      tools: (context) => {
        asked.push(context.agent.name);
        return Array.from({ length: asked.length }, (_, n) => tool(`tool${n}`, () => n));
      },
    };
    const model = new ScriptedModel([calls('tool0'), calls('tool1'), calls('tool2', 'tool3'), 'ok']);
    const events = await bench(llm('bot', model, { toolsets: [growing] })).say('hi');
    expect(model.requests.map(({ tools }) => tools.length)).toEqual([1, 2, 3, 4]);
    expect(asked).toEqual(['bot', 'bot', 'bot', 'bot']);
    expect(responses(events)).toMatchObject({
      tool0: { content: 0 },
      tool1: { content: 1 },
      tool2: { content: 2 },
      tool3: { error: 'Tool not found: tool3. Valid tools: tool0, tool1, tool2' },
    });
  });

  test('one that fails is reported and left out; own tools come first', async () => {
    const broken: Toolset = { name: 'broken', tools: () => Promise.reject(new Error('offline')) };
    const other: Toolset = { name: 'other', tools: () => [tool('look', () => 'theirs'), tool('more', () => 'more')] };
    const model = new ScriptedModel([calls('look', 'more'), 'ok']);
    const agent = llm('bot', model, { tools: [tool('look', () => 'own')], toolsets: [broken, other] });
    const { say, warnings } = bench(agent);
    const events = await say('hi');
    expect(responses(events)).toEqual({ look: { content: 'own' }, more: { content: 'more' } });
    expect([...new Set(warnings)]).toEqual([
      'toolset broken failed: offline',
      'toolset other offers look, which agent bot has already',
    ]);
    expect(endOf(events)).toBe('completed');
  });

  test('one ill-formed tool is reported and left out; those beside it are offered', async () => {
    const odd = { ...tool('odd', () => 'odd'), inputSchema: 'none' } as unknown as AnyTool;
    const mixed: Toolset = { name: 'mixed', tools: () => [tool('one', () => 1), odd, tool('two', () => 2)] };
    const model = new ScriptedModel([calls('one', 'two'), 'ok']);
    const { say, warnings } = bench(llm('bot', model, { toolsets: [mixed] }));
    expect(responses(await say('hi'))).toEqual({ one: { content: 1 }, two: { content: 2 } });
    expect(warnings[0]).toMatch(/^toolset mixed offers odd, which is ill-formed: /);
  });
});

describe('S0-45 F29 output key', () => {
  test('F29 only the final text is written: not calls, results, thoughts or silence', async () => {
    const sessions = new InMemorySessionService();
    await sessions.create(key, { state: { k: 'old' } });
    const values: unknown[] = [];
    const look = ownTool('look', (_, { state }) => void values.push(state.get('k')));
    const model = new ScriptedModel([
      { text: 'let me look', calls: [['look']] },
      calls('look'),
      { thought: 'secret', text: 'new' },
      { thought: 'only thinking' },
      { parts: [] },
    ]);
    const { say, state, log } = bench(llm('bot', model, { tools: [look], outputKey: 'k' }), { store: sessions });
    await say('one');
    expect([values, await state()]).toEqual([['old', 'old'], { k: 'new' }]);
    const writers = (await log()).filter(({ actions }) => 'k' in actions.stateDelta);
    expect(said(writers)).toEqual(['bot: thought | new']);
    await say('two');
    await say('three');
    expect(await state()).toEqual({ k: 'new' });
  });

  test('F29 a result that needs no summary writes nothing', async () => {
    const sessions = new InMemorySessionService();
    await sessions.create(key, { state: { k: 'old' } });
    const skip = ownTool('skip', (_, context) => {
      context.skipSummarization();
      return 'a result';
    });
    const { say, state } = bench(llm('bot', new ScriptedModel([calls('skip')]), { tools: [skip], outputKey: 'k' }), {
      store: sessions,
    });
    expect(endOf(await say('hi'))).toBe('completed');
    expect(await state()).toEqual({ k: 'old' });
  });

  test('S0-45 the next agent reads it; another agent’s words do not write it', async () => {
    const model = new ScriptedModel({ byAgent: { a: ['a says'], b: ['b says'] } });
    const agent = new SequentialAgent({
      name: 'all',
      subAgents: [llm('a', model, { outputKey: 'draft' }), llm('b', model, { instruction: 'Improve: {draft}' })],
    });
    const { say, state } = bench(agent);
    await say('hi');
    expect(model.requests[1]?.systemInstruction).toBe('Improve: a says');
    expect(await state()).toEqual({ draft: 'a says' });
  });
});

async function open(agent: Parameters<typeof fromAgent>[0]): Promise<AgentSession> {
  return fromAgent(agent).open({ sessionId: key.id, create: true }, host);
}

describe('steering', () => {
  test('F33 words that come while tools run stand after all results, before the next model call; no call is lost', async () => {
    const running = gate();
    const steered = gate();
    const ran: string[] = [];
    const wait = (name: string) =>
      tool(name, async () => {
        ran.push(name);
        if (ran.length === 2) running.open();
        await steered.opened;
        return name;
      });
    const model = new ScriptedModel([calls('a', 'b'), 'ok']);
    const session = await open(llm('bot', model, { tools: [wait('a'), wait('b')] }));
    const ended = (async () => {
      const all = [];
      for await (const event of session.stream('hi')) all.push(event);
      return all;
    })();
    await running.opened;
    const { disposition } = await session.steer({ content: 'also X' });
    steered.open();
    const events = await ended;
    expect(disposition).toBe('current_turn');
    expect(brief(model.requests[1]?.contents)).toEqual([
      'user: hi',
      'model: call a({}) | call b({})',
      'user: a = {"content":"a"} | b = {"content":"b"}',
      'user: also X',
    ]);
    expect(events.at(-1)).toMatchObject({ type: 'stream_end', reason: 'completed' });
    expect(events.filter(({ type }) => type === 'custom')).toContainEqual(
      expect.objectContaining({ kind: 'steer_applied' }),
    );
  });

  test('F36 words that come during the last model call go on with the turn, once, and the caller learns it', async () => {
    const asked = gate();
    const steered = gate();
    const model = new ScriptedModel([
      async () => {
        asked.open();
        await steered.opened;
        return 'one';
      },
      'two',
      'three',
    ]);
    const session = await open(llm('bot', model));
    const texts: string[] = [];
    const ended = (async () => {
      for await (const event of session.stream('hi')) {
        if (event.type === 'message' && !event.partial) texts.push(textOfParts(event.content));
      }
    })();
    await asked.opened;
    const { disposition } = await session.steer({ content: 's1' });
    steered.open();
    await ended;
    expect(disposition).toBe('current_turn');
    expect(brief(model.requests[1]?.contents)).toEqual(['user: hi', 'model: one', 'user: s1']);
    expect(texts.slice(-2)).toEqual(['one', 'two']);
    // After the end they are for the next turn, and stand before its message.
    expect((await session.steer({ content: 's2' })).disposition).toBe('next_turn');
    for await (const _ of session.stream('q1'));
    expect(brief(model.requests[2]?.contents).slice(-3)).toEqual(['model: two', 'user: s2', 'user: q1']);
    expect(JSON.stringify(model.requests[2]?.contents).split('"s1"')).toHaveLength(2);
  });
});

describe('R29 a crash between a tool’s effect and its response', () => {
  /** Runs until the response of the call is to be stored, then nothing is written any more. */
  async function crash(pay: AnyTool, options: Partial<RunnerOptions> = {}) {
    const store = new InMemorySessionService();
    const isResponse = (event: StoredEvent) =>
      event.content?.parts.some((part) => part.type === 'function_response') ?? false;
    const model = new ScriptedModel([calls('pay')]);
    const first = bench(llm('bot', model, { tools: [pay] }), {
      store: mortal(store, (events) => events.some(isResponse)),
    });
    await expect(first.say('pay')).rejects.toThrow('the process is gone');
    const next = new ScriptedModel(['thanks']);
    const sessions = mortal(store, () => false);
    return { next, ...bench(llm('bot', next, { tools: [pay] }), { store: sessions, ...options }) };
  }

  test('R29 the call is open again; it runs once more only when somebody says so', async () => {
    const ran: string[] = [];
    const pay = tool('pay', (_, { callId }) => ran.push(callId));
    const { say, next } = await crash(pay);
    const asked = await say({ kind: 'continue' });
    const ask = asked.flatMap(({ actions }) => actions.asks ?? []);
    expect([ran.length, ask.length, ask[0]?.kind, endOf(asked), next.requests.length]).toEqual([
      1,
      1,
      'rerun_unknown',
      undefined,
      0,
    ]);
    const events = await say({
      kind: 'elicitation_response',
      requestId: String(ask[0]?.requestId),
      response: { action: 'accept' },
    });
    expect([ran.length, new Set(ran).size, endOf(events)]).toEqual([2, 1, 'completed']);
  });

  test('R29 declined: the model is told that its outcome is unknown', async () => {
    const ran: string[] = [];
    const { say } = await crash(tool('pay', (_, { callId }) => ran.push(callId)));
    const [ask] = (await say({ kind: 'continue' })).flatMap(({ actions }) => actions.asks ?? []);
    const requestId = String(ask?.requestId);
    const events = await say({ kind: 'elicitation_response', requestId, response: { action: 'decline' } });
    expect(responses(events).pay).toEqual({ error: 'its outcome is unknown; it was not run again' });
    expect(ran).toHaveLength(1);
  });

  test('R29 an idempotent one runs again by itself, under the same id', async () => {
    const ran: string[] = [];
    const pay = tool('pay', (_, { callId }) => ran.push(callId), { annotations: { idempotent: true } });
    const { say, log } = await crash(pay);
    expect(endOf(await say({ kind: 'continue' }))).toBe('completed');
    expect([ran.length, new Set(ran).size]).toEqual([2, 1]);
    expect(said(await log())).toEqual(['user: pay', 'bot: call pay({})', 'bot: pay = {"content":2}', 'bot: thanks']);
  });

  test('R29 the tool may find out for itself', async () => {
    const ran: string[] = [];
    const pay: AnyTool = {
      ...tool('pay', (_, { callId }) => ran.push(callId)),
      onUnknownOutcome: ({ callId }) => ({ result: { found: ran.includes(callId) } }),
    };
    const { say } = await crash(pay);
    expect(responses(await say({ kind: 'continue' })).pay).toEqual({ found: true });
    expect(ran).toHaveLength(1);
  });

  test('CASE-F2 what it finds out is cut as any result, and the whole is an artifact', async () => {
    const found = 'x'.repeat(100_000);
    const pay: AnyTool = { ...tool('pay', () => 1), onUnknownOutcome: () => ({ result: found }) };
    const artifacts = new InMemoryArtifactService();
    const { say, next } = await crash(pay, { services: { artifacts }, maxResultBytes: 10_000 });
    expect(endOf(await say({ kind: 'continue' }))).toBe('completed');
    expect(JSON.stringify(next.requests[0]?.contents).length).toBeLessThan(20_000);
    const [name = ''] = await artifacts.list(key);
    expect(Buffer.from((await artifacts.load(key, name))?.data ?? '', 'base64').toString()).toBe(found);
  });
});

test('nothing goes on behind a turn that has failed: siblings of a call whose event could not be made end first', async () => {
  const trace: string[] = [];
  const last = gate();
  const tools = [
    tool('bad', () => ({ bad: true })),
    tool('slow', async () => {
      await last.opened;
      trace.push('slow ended');
    }),
  ];
  const { say, log } = bench(llm('bot', new ScriptedModel([calls('bad', 'slow')]), { tools }), {
    plugins: [
      {
        name: 'broken',
        onEvent: (_, event) => {
          const bad = event.content?.parts.some((part) => part.type === 'function_response' && part.name === 'bad');
          if (!bad) return undefined;
          setImmediate(() => last.open());
          throw new Error('cannot show it');
        },
        afterRun: () => void trace.push('after_run'),
      },
    ],
  });
  const events = await say('hi');
  expect([errorOf(events)?.message, endOf(events)]).toEqual(['a broken.onEvent hook failed: cannot show it', 'failed']);
  expect(trace).toEqual(['slow ended', 'after_run']);
  expect(await log()).toHaveLength(events.length);
});
