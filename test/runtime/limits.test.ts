import { describe, expect, test } from 'vitest';
import { fromAgent } from '../../src/adapters/adk/index.ts';
import type { TurnLimits } from '../../src/runtime/index.ts';
import { agentTool, LoopAgent, ParallelAgent, strictest } from '../../src/runtime/index.ts';
import type { ScriptedStep } from '../../src/testing/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { bench, brief, collect, endOf, errorOf, host, llm, responses, said, tool } from './kit.ts';

/** A model that calls for ever. */
const restless = (step: ScriptedStep = { calls: [['look']] }) => {
  const model = new ScriptedModel({ strict: false });
  const generate = model.generate.bind(model);
  const asked = { count: 0 };
  model.generate = async function* (request, options) {
    asked.count++;
    for await (const frame of generate(request, options)) {
      if (!frame.content) continue;
      const parts = (step.calls ?? []).map((call) => {
        const [name, args] = call as readonly [string, unknown?];
        return { type: 'function_call' as const, id: '', name, args: (args ?? {}) as Record<string, unknown> };
      });
      yield { ...frame, content: { role: 'model', parts }, usage: step.usage ?? {} };
    }
  };
  return { model, asked };
};

function run(limits: TurnLimits | undefined, options: { maxIterations?: number; perRun?: TurnLimits } = {}) {
  const { model, asked } = restless();
  const ran = { count: 0 };
  const look = tool('look', () => void ran.count++, { annotations: { readOnly: true } });
  const { maxIterations, perRun } = options;
  const agent = llm('bot', model, { tools: [look], ...(maxIterations === undefined ? {} : { maxIterations }) });
  const made = bench(agent, limits ? { limits } : {});
  return { ...made, asked, ran, go: () => made.say('go', perRun ? { limits: perRun } : {}) };
}

describe('S0-18 R1 iterations', () => {
  test('R3 25 by default: exactly 25 model calls, the last batch still runs, then an error and max_turns', async () => {
    const { go, asked, ran, log } = run(undefined);
    const events = await go();
    expect([asked.count, ran.count]).toEqual([25, 25]);
    expect(errorOf(events)).toMatchObject({ code: 'E_MAX_ITERATIONS', message: expect.stringContaining('25') });
    expect(events.find(({ errorCode }) => errorCode)?.error).toEqual({
      status: 'RESOURCE_EXHAUSTED',
      fatal: false,
      retryable: false,
    });
    expect(endOf(events)).toBe('max_turns');
    // R3: no call is left without its response.
    const parts = (await log()).flatMap(({ content }) => content?.parts ?? []);
    const count = (type: string) => parts.filter((part) => part.type === type).length;
    expect([count('function_call'), count('function_response')]).toEqual([25, 25]);
  });

  test('S0-17 a final answer ends the loop, calls go on', async () => {
    const model = new ScriptedModel([{ calls: [['look']] }, { calls: [['look']] }, 'done', 'never']);
    const { say } = bench(llm('bot', model, { tools: [tool('look', () => 1)] }));
    expect(endOf(await say('hi'))).toBe('completed');
    expect([model.requests.length, model.remaining]).toEqual([3, 1]);
  });

  test('the agent’s own cap counts, whatever the run’s', async () => {
    const { go, asked } = run({ maxLlmCalls: 100 }, { maxIterations: 3 });
    expect(errorOf(await go())?.code).toBe('E_MAX_ITERATIONS');
    expect(asked.count).toBe(3);
  });

  test('each iteration of a loop agent has its own count', async () => {
    const { model, asked } = restless();
    const model2 = new ScriptedModel(Array.from({ length: 3 }, () => [{ calls: [['look'] as const] }, 'ok']).flat());
    const look = tool('look', () => 1);
    const child = llm('child', model2, { tools: [look], maxIterations: 2 });
    const loop = new LoopAgent({ name: 'loop', maxIterations: 3, subAgents: [child] });
    expect(endOf(await bench(loop).say('hi'))).toBe('completed');
    expect([model2.requests.length, asked.count, model.remaining]).toEqual([6, 0, 0]);
  });

  test('continue goes on with fresh counters, and the history is whole', async () => {
    const model = new ScriptedModel([...Array.from({ length: 2 }, () => ({ calls: [['look'] as const] })), 'done']);
    const agent = llm('bot', model, { tools: [tool('look', () => 1)], maxIterations: 2 });
    const { say } = bench(agent);
    expect(endOf(await say('hi'))).toBe('max_turns');
    expect(endOf(await say({ kind: 'continue' }))).toBe('completed');
    expect(brief(model.requests[2]?.contents)).toEqual([
      'user: hi',
      'model: call look({})',
      'user: look = {"content":1}',
      'model: call look({})',
      'user: look = {"content":1}',
    ]);
  });
});

describe('R1 model calls of a turn', () => {
  test('an explicit larger cap lifts the default of 25', async () => {
    const { go, asked } = run({ maxLlmCalls: 40 });
    const events = await go();
    expect(errorOf(events)).toMatchObject({ code: 'E_MAX_LLM_CALLS' });
    expect([asked.count, endOf(events)]).toEqual([40, 'max_turns']);
  });

  test('zero or less is no cap: then only the others count', async () => {
    for (const maxLlmCalls of [0, -1]) {
      const { go, asked } = run({ maxLlmCalls }, { maxIterations: 30 });
      expect(errorOf(await go())?.code).toBe('E_MAX_ITERATIONS');
      expect(asked.count).toBe(30);
    }
  });

  test('zero is no cap for a session of a source either', async () => {
    const { model } = restless();
    const agent = llm('bot', model, { tools: [tool('look', () => 1)], maxIterations: 3 });
    const session = await fromAgent(agent, { limits: { maxLlmCalls: 0 } }).open({}, host);
    const events = await collect(session.stream('go'));
    expect(events.at(-1)).toMatchObject({ type: 'stream_end', reason: 'max_turns', data: { steps: 3 } });
  });

  test('500 by default over all agents, ping-pong included', async () => {
    const model = new ScriptedModel({ strict: false });
    const generate = model.generate.bind(model);
    model.generate = async function* (request, options) {
      for await (const frame of generate(request, options)) {
        const args = { agent_name: request.agent === 'a' ? 'b' : 'a' };
        yield {
          ...frame,
          content: { role: 'model', parts: [{ type: 'function_call', id: '', name: 'transfer_to_agent', args }] },
        };
      }
    };
    const events = await bench(llm('a', model, { subAgents: [llm('b', undefined)] })).say('hi');
    expect(errorOf(events)?.code).toBe('E_MAX_LLM_CALLS');
    expect([model.requests.length, endOf(events)]).toEqual([500, 'max_turns']);
  });

  test('of several sources the smallest explicit one wins', async () => {
    const tight = run({ maxLlmCalls: 3 }, { perRun: { maxLlmCalls: 10 } });
    await tight.go();
    expect(tight.asked.count).toBe(3);
    const tighter = run({ maxLlmCalls: 10 }, { perRun: { steps: 2 } });
    await tighter.go();
    expect(tighter.asked.count).toBe(2);
    expect(strictest({ steps: 3, usd: 1 }, undefined, { steps: 2, maxLlmCalls: 0 })).toEqual({
      steps: 2,
      usd: 1,
      maxLlmCalls: Number.POSITIVE_INFINITY,
    });
  });

  test.each<[string, TurnLimits]>([
    ['steps', { steps: 2 }],
    ['model calls', { maxLlmCalls: 2 }],
  ])('MUT-R10 parallel branches share a limit of %s: what is left asks once the turn goes on', async (_, limits) => {
    const names = ['a', 'b', 'c'];
    const model = new ScriptedModel({ byAgent: Object.fromEntries(names.map((name) => [name, [`from ${name}`]])) });
    const agent = new ParallelAgent({ name: 'all', subAgents: names.map((name) => llm(name, model)) });
    const { say } = bench(agent, { limits });
    const events = await say('go');
    expect([model.requests.length, errorOf(events)?.code, endOf(events)]).toEqual([2, 'E_MAX_LLM_CALLS', 'max_turns']);
    expect(said(events)).toEqual(['user: go', 'a: from a', 'b: from b']);
    const rest = await say({ kind: 'continue' });
    expect([model.requests.length, said(rest), endOf(rest)]).toEqual([3, ['c: from c'], 'completed']);
  });

  test('tools that a host runs do not reset the count', async () => {
    const { model, asked } = restless({ calls: [['pay']] });
    const { say } = bench(llm('bot', model, { tools: [tool('pay', undefined)] }), { limits: { maxLlmCalls: 3 } });
    let events = await say('go');
    for (let n = 0; n < 2; n++) {
      const call = events.flatMap(({ content }) => content?.parts ?? []).find((part) => part.type === 'function_call');
      events = await say({ kind: 'tool_result', requestId: String(call?.id), result: { content: [] } });
    }
    const call = events.flatMap(({ content }) => content?.parts ?? []).find((part) => part.type === 'function_call');
    events = await say({ kind: 'tool_result', requestId: String(call?.id), result: { content: [] } });
    expect([asked.count, errorOf(events)?.code]).toEqual([3, 'E_MAX_LLM_CALLS']);
  });

  test('an agent run as a tool counts towards the turn, and its limit is its caller’s error', async () => {
    const inner = restless();
    const expert = llm('expert', inner.model, { tools: [tool('look', () => 1)], maxIterations: 2 });
    const model = new ScriptedModel([{ calls: [['expert', { request: 'x' }]] }, 'gave up']);
    const { say } = bench(llm('bot', model, { tools: [agentTool(expert)] }));
    const events = await say('hi');
    expect([inner.asked.count, endOf(events)]).toEqual([2, 'completed']);
    expect(String(responses(events).expert?.error)).toContain('made 2 model calls');
  });
});

describe('other limits', () => {
  const spending = (usage: NonNullable<ScriptedStep['usage']>, limits: TurnLimits) => {
    const { model, asked } = restless({ calls: [['look']], usage });
    const made = bench(llm('bot', model, { tools: [tool('look', () => 1)] }), { limits });
    return { ...made, asked };
  };

  test('tokens and money end the turn with max_budget after the last batch has run', async () => {
    const tokens = spending({ inputTokens: 30, outputTokens: 30 }, { tokens: 100 });
    const events = await tokens.say('go');
    expect([tokens.asked.count, errorOf(events)?.code, endOf(events)]).toEqual([2, 'E_MAX_BUDGET', 'max_budget']);
    const money = spending({ cost: { usd: 0.4 } }, { usd: 1 });
    expect([endOf(await money.say('go')), money.asked.count]).toEqual(['max_budget', 3]);
  });

  test('minutes of work end the turn with max_time', async () => {
    const { model } = restless();
    const { say } = bench(llm('bot', model, { tools: [tool('look', () => 1)] }), { limits: { minutes: 0 } });
    const events = await say('go');
    expect([errorOf(events)?.code, endOf(events)]).toEqual(['E_MAX_TIME', 'max_time']);
  });
});
