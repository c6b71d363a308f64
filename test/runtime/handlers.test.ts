import { describe, expect, test } from 'vitest';
import type { AnyAgentTool, ToolContract } from '../../src/contracts/index.ts';
import type { LlmAgentOptions, RunnerOptions, StoredEvent, ToolContext } from '../../src/runtime/index.ts';
import { agentTool, InMemoryCredentialService } from '../../src/runtime/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { bench, endOf, errorOf, llm, ownTool, responses, tool } from './kit.ts';

const calls = (...names: string[]) => ({ calls: names.map((name) => [name] as const) });

function withTools(
  tools: readonly AnyAgentTool[],
  names: readonly string[],
  options: Omit<LlmAgentOptions, 'name'> = {},
  run: Partial<RunnerOptions> = {},
) {
  return bench(llm('bot', new ScriptedModel([calls(...names), 'done']), { tools, ...options }), run);
}

const handler = (execute: (context: ToolContext) => unknown, extra: Partial<ToolContract> = {}) =>
  tool('pay', (_, context) => execute(context as unknown as ToolContext) as never, extra);

const typesOf = (events: readonly StoredEvent[]) =>
  events
    .flatMap(({ content }) => content?.parts ?? [])
    .flatMap((part) => (part.type === 'function_response' ? [part.errorType] : []));

describe('what a handler is given', () => {
  test('is its call, its place and what it may do, and what it wrote comes with the response', async () => {
    const seen: unknown[] = [];
    const pay = handler((context) => {
      seen.push(
        context.toolName,
        context.agentName,
        context.agentPath,
        context.sessionId,
        context.confirmation,
        context.invocation.sessionId,
      );
      context.state.set('k', 1);
      context.progress({ content: [{ type: 'text', text: 'half' }] } as never);
      return 'paid';
    });
    const { frames, state } = withTools([pay], ['pay']);
    const events = await frames('hi');
    expect(seen).toEqual(['pay', 'bot', ['bot'], 's1', undefined, 's1']);
    expect(await state()).toEqual({ k: 1 });
    const response = events.find(({ content }) => content?.parts[0]?.type === 'function_response');
    expect(response?.actions.stateDelta).toEqual({ k: 1 });
    const update = events.find(({ customMetadata }) => customMetadata?.toolUpdate !== undefined);
    expect(update).toMatchObject({
      partial: true,
      author: 'bot',
      customMetadata: { toolUpdate: { content: [{ text: 'half' }] } },
    });
  });

  test('is a signal that says nothing after the call has ended, and the reason of an abort before', async () => {
    const stop = new AbortController();
    let late: ToolContext | undefined;
    const pay = handler((context) => {
      late = context;
      return context.signal.aborted;
    });
    const { say } = withTools([pay], ['pay']);
    const events = await say('hi', { signal: stop.signal });
    expect(responses(events).pay).toEqual({ content: false });
    stop.abort();
    expect(late?.signal.aborted).toBe(false);
    late?.cancel(new Error('gone'));
    expect(late?.signal.reason).toEqual(new Error('gone'));
  });

  test('is told where it asks for what is not there', async () => {
    const pay = handler((context) => context.transferTo('nobody'));
    expect(String(responses(await withTools([pay], ['pay']).say('hi')).pay?.error)).toContain(
      'there is no agent "nobody" here',
    );
  });

  test('cannot be asked with once it has ended, nor may a hook ask for a credential', async () => {
    const refused: unknown[] = [];
    const trying = (work: () => unknown) => {
      try {
        work();
      } catch (error) {
        refused.push((error as { code: string }).code);
      }
    };
    const { say } = withTools([handler(() => 'paid')], ['pay'], {
      beforeTool: (context) => trying(() => context.requestCredential({ key: 'k' })) as undefined,
      afterTool: (context) => {
        trying(() => context.requestConfirmation({}));
        trying(() => context.requestCredential({ key: 'k' }));
        return undefined;
      },
    });
    expect(endOf(await say('hi'))).toBe('completed');
    expect(refused).toEqual(['E_UNSUPPORTED', 'E_UNSUPPORTED', 'E_UNSUPPORTED']);
  });

  test('tells nothing of a credential that it was given, wherever it says it', async () => {
    const credentials = new InMemoryCredentialService();
    await credentials.save({ app: 'shop', userId: 'ann' }, 'pay', { token: 'hunter2hunter2' });
    const pay = handler(async (context) => {
      const { token } = (await context.getAuthResponse()) as { token: string };
      context.progress({ content: [{ type: 'text', text: token }] } as never);
      return { echo: token };
    });
    const ask = ownTool('ask', async (_, context) => {
      const { token } = (await context.getAuthResponse('pay')) as { token: string };
      context.requestConfirmation({ hint: `use ${token}?`, payload: { token } });
    });
    const { frames, log } = withTools([pay, ask], ['pay', 'ask'], {}, { services: { credentials } });
    const events = await frames('hi');
    expect(JSON.stringify([events, await log()])).not.toContain('hunter2');
    expect(JSON.stringify(events)).toContain('***');
    const asked = events.flatMap(({ actions }) => actions.asks ?? []);
    expect(asked).toMatchObject([
      { kind: 'tool_confirmation', message: 'use ***?', context: { payload: { token: '***' } } },
    ]);
  });
});

describe('what a handler asks', () => {
  const asked = async (execute: (context: ToolContext) => unknown, extra: Partial<ToolContract> = {}) => {
    const { say } = withTools([handler(execute, extra)], ['pay']);
    const events = await say('hi');
    return {
      events,
      ask: events.flatMap(({ actions }) => actions.asks ?? [])[0],
      event: events.find(({ actions }) => actions.asks),
    };
  };

  test('is a question of its own, and no response', async () => {
    const before = Date.now();
    const { events, ask, event } = await asked((context) => {
      context.state.set('k', 1);
      context.requestConfirmation({ hint: 'really?', payload: { n: 1 }, expiresIn: 60 });
    });
    expect(ask).toStrictEqual({
      requestId: `${ask?.callId}#0`,
      callId: ask?.callId,
      kind: 'tool_confirmation',
      message: 'really?',
      context: { payload: { n: 1 } },
      expiresAt: expect.any(Number),
    });
    expect((ask?.expiresAt ?? 0) - before).toBeGreaterThanOrEqual(60_000);
    expect((ask?.expiresAt ?? 0) - before).toBeLessThan(120_000);
    expect(event?.actions).toMatchObject({
      stateDelta: { k: 1 },
      requestedToolConfirmations: { [String(ask?.callId)]: { hint: 'really?', payload: { n: 1 }, expiresIn: 60 } },
    });
    expect([responses(events), endOf(events)]).toEqual([{}, undefined]);
    const { ask: plain } = await asked((context) => context.requestConfirmation({}));
    expect(plain).toMatchObject({ message: 'Run pay?', context: {} });
    expect(plain).not.toHaveProperty('expiresAt');
  });

  test('may be a credential, with or without words', async () => {
    const { ask, event } = await asked((context) => context.requestCredential({ key: 'k', hint: 'log in' }));
    expect(ask).toMatchObject({ kind: 'auth_required', message: 'log in', context: { key: 'k', hint: 'log in' } });
    expect(event?.actions.requestedAuthConfigs).toEqual({ [String(ask?.callId)]: { key: 'k', hint: 'log in' } });
    const { ask: plain } = await asked((context) => context.requestCredential({}));
    expect(plain?.message).toBe('pay needs a credential');
  });

  test('is asked too where a long-running one has no word yet', async () => {
    const long = { annotations: { longRunning: true } };
    const { ask } = await asked((context) => context.requestConfirmation({ hint: 'go?' }), long);
    expect(ask?.message).toBe('go?');
    const silent = await asked(() => undefined, long);
    expect(silent.event).toBeUndefined();
    const [interim] = silent.events.flatMap(({ actions }) => Object.values(actions.interim ?? {}));
    expect(interim).toEqual({});
    const nothing = await asked(() => null, long);
    expect(nothing.events.flatMap(({ actions }) => Object.values(actions.interim ?? {}))).toEqual([{}]);
    const word = await asked(() => ({ status: 'sent' }), long);
    expect(word.events.flatMap(({ actions }) => Object.values(actions.interim ?? {}))).toEqual([{ status: 'sent' }]);
  });

  test('is not asked for long where a long-running one cannot begin', async () => {
    const { events } = await asked(
      () => {
        throw new Error('no');
      },
      { annotations: { longRunning: true } },
    );
    expect([typesOf(events), events.some(({ actions }) => actions.interim)]).toEqual([['failed'], false]);
  });
});

describe('a tool that takes too long', () => {
  const endless = (extra: Partial<AnyAgentTool> = {}) => {
    const signals: AbortSignal[] = [];
    const wait = handler((context) => {
      signals.push(context.signal);
      return new Promise(() => {});
    });
    return { signals, wait: { ...wait, ...extra } as AnyAgentTool };
  };

  test.each<[string, Partial<AnyAgentTool>, Partial<RunnerOptions>]>([
    ['its own time', { timeoutMs: 1 }, {}],
    ['the runner’s', {}, { toolTimeoutMs: 1 }],
    ['its own before the runner’s', { timeoutMs: 1 }, { toolTimeoutMs: 60_000 }],
  ])('is left after %s, and hears of it', async (_, extra, run) => {
    const { signals, wait } = endless(extra);
    const events = await withTools([wait], ['pay'], {}, run).say('hi');
    expect([typesOf(events), endOf(events)]).toEqual([['timeout'], 'completed']);
    expect(String(responses(events).pay?.error)).toContain('no result within 1 ms');
    expect(signals[0]?.reason).toMatchObject({ code: 'E_TOOL', status: 'DEADLINE_EXCEEDED' });
  });

  test('may have all the time where it says so', async () => {
    const pay = { ...handler(async () => 'paid'), timeoutMs: 0 } as AnyAgentTool;
    expect(responses(await withTools([pay], ['pay'], {}, { toolTimeoutMs: 1 }).say('hi')).pay).toEqual({
      content: 'paid',
    });
  });
});

describe('calls side by side', () => {
  /** Tools that note how many of them run at once. */
  function counted(count: number, exclusive: readonly number[] = []) {
    let running = 0;
    let most = 0;
    const order: string[] = [];
    const tools = Array.from({ length: count }, (_, n) =>
      tool(
        `t${n}`,
        async () => {
          running++;
          most = Math.max(most, running);
          order.push(`t${n}:${running}`);
          for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
          running--;
        },
        exclusive.includes(n) ? { annotations: { exclusive: true } } : {},
      ),
    );
    return { tools, names: tools.map(({ name }) => name), order, most: () => most };
  }

  test.each([
    [5, 2, 2],
    [5, 5, 5],
    [5, 64, 5],
    [3, 1, 1],
  ])('of %i no more than %i run at once: %i', async (count, toolConcurrency, expected) => {
    const { tools, names, most } = counted(count);
    const { say, log } = withTools(tools, names, {}, { toolConcurrency });
    expect(endOf(await say('hi'))).toBe('completed');
    expect(most()).toBe(expected);
    // Each was in the log before it began, once.
    const started = (await log()).flatMap(({ actions }) => actions.started ?? []);
    expect([started.length, new Set(started).size]).toEqual([count, count]);
  });

  test('an exclusive one runs alone, in its place', async () => {
    const { tools, names, order } = counted(4, [0, 2]);
    const { say, log } = withTools(tools, names);
    await say('hi');
    expect(order).toEqual(['t0:1', 't1:1', 't2:1', 't3:1']);
    const started = (await log()).map(({ actions }) => actions.started?.length ?? 0).filter((count) => count > 0);
    expect(started).toEqual([1, 1, 1, 1]);
    const other = counted(4, [3]);
    await withTools(other.tools, other.names).say('hi');
    expect([other.order.at(-1), other.most()]).toEqual(['t3:1', 3]);
  });

  test('that may run again are not said to be started; their decision comes with the response', async () => {
    const look = tool('look', () => 1, { annotations: { readOnly: true } });
    const { say, log } = withTools([look], ['look']);
    await say('hi');
    const events = await log();
    expect(events.some(({ actions }) => actions.started)).toBe(false);
    const response = events.find(({ content }) => content?.parts[0]?.type === 'function_response');
    expect(Object.values(response?.actions.decisions ?? {})).toMatchObject([{ outcome: 'approved' }]);
  });
});

describe('an agent run as a tool', () => {
  test('is asked with its request, or with all of its arguments', async () => {
    for (const [args, expected] of [
      [{ request: 'go' }, 'go'],
      [{ request: 'go', more: 1 }, '{"request":"go","more":1}'],
      [{ request: 5 }, '{"request":5}'],
      [{}, '{}'],
    ] as const) {
      const agent = llm('expert', new ScriptedModel(['says']));
      const own = agentTool(agent);
      const loose = { ...own, inputSchema: { type: 'object' } } as AnyAgentTool;
      const model = new ScriptedModel([{ calls: [['expert', args]] }, 'done']);
      const events = await bench(llm('bot', model, { tools: [loose] })).say('hi');
      const input = events.find(({ iso, author }) => iso !== undefined && author === 'user');
      expect(input?.content).toEqual({ role: 'user', parts: [{ type: 'text', text: expected }] });
    }
  });

  test('leaves its state with its caller, but for what is temporary', async () => {
    const agent = llm('expert', new ScriptedModel(['says']), {
      outputKey: 'said',
      beforeAgent: (context) => context.state.set('temp:x', 1) as undefined,
    });
    const model = new ScriptedModel([{ calls: [['expert', { request: 'go' }]] }, 'done']);
    const b = bench(llm('bot', model, { tools: [agentTool(agent)] }));
    const events = await b.say('hi');
    const response = events.find(({ content }) => content?.parts[0]?.type === 'function_response');
    expect([response?.actions.stateDelta, await b.state()]).toEqual([{ said: 'says' }, { said: 'says' }]);
    expect(events.flatMap(({ actions }) => actions.started ?? [])).toEqual([]);
  });

  test('that fails fails its call, and what it waits for is closed with it', async () => {
    const ask = tool('ask', () => 1, { needsApproval: true });
    const broken = tool('broken', () => 1);
    const agent = llm('expert', new ScriptedModel([calls('ask', 'broken'), { error: new Error('gone') }]), {
      tools: [ask, broken],
    });
    const model = new ScriptedModel([{ calls: [['expert', { request: 'go' }]] }, 'done']);
    const { say } = bench(llm('bot', model, { tools: [agentTool(agent)] }));
    const first = await say('hi');
    const [question] = first.flatMap(({ actions }) => actions.asks ?? []);
    const events = await say({
      kind: 'elicitation_response',
      requestId: String(question?.requestId),
      response: { action: 'decline' },
    });
    expect(endOf(events)).toBe('completed');
    expect(String(responses(events).expert?.error)).toContain('gone');
    expect(errorOf(events)).toBeUndefined();
  });
});
