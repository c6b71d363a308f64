import { describe, expect, test } from 'vitest';
import type { Telemetry, TelemetrySpan } from '../../src/contracts/index.ts';
import type { Agent, LlmAgentOptions, Model, ModelResponse } from '../../src/runtime/index.ts';
import { agentTool, ParallelAgent } from '../../src/runtime/index.ts';
import { requestAttributes, responseAttributes } from '../../src/runtime/step/model-telemetry.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { bench, endOf, errorOf, llm, text, tool } from './kit.ts';

interface Noted {
  name: string;
  attributes: Record<string, unknown>;
  parent: string | undefined;
  error: unknown;
  ends: number;
}

/** Notes each span: what it was begun and ended with, and below which. */
function noting(): { spans: Noted[]; telemetry: Telemetry } {
  const spans: Noted[] = [];
  const names = new Map<TelemetrySpan, string>();
  const telemetry: Telemetry = {
    startSpan(name, attributes, parent) {
      const noted: Noted = {
        name,
        attributes: { ...attributes },
        parent: parent && names.get(parent),
        error: undefined,
        ends: 0,
      };
      spans.push(noted);
      const span: TelemetrySpan = {
        end(error, more) {
          noted.error = error;
          noted.ends++;
          Object.assign(noted.attributes, more);
        },
      };
      names.set(span, name);
      return span;
    },
  };
  return { spans, telemetry };
}

const codeOf = ({ error }: Noted) => (error as { code?: string } | undefined)?.code ?? error;

async function measured(model: Model, options: Omit<LlmAgentOptions, 'name'> = {}, run: object = {}) {
  const { spans, telemetry } = noting();
  const { say } = bench(llm('bot', model, options), { telemetry });
  const events = await say('hi', run);
  return { spans, events, of: (name: string) => spans.find((span) => span.name === name) as Noted };
}

describe('what is measured of a run', () => {
  test('is each agent, each question to a model and each tool, below whoever wanted it, each ended once', async () => {
    const expert = llm('expert', new ScriptedModel(['says']));
    const model = new ScriptedModel([{ calls: [['look'], ['expert', { request: 'go' }]] }, 'done']);
    const { spans, of } = await measured(model, { tools: [tool('look', () => 1), agentTool(expert)] });
    expect(spans.map(({ name, parent }) => [name, parent])).toEqual([
      ['invoke_agent bot', undefined],
      ['chat scripted', 'invoke_agent bot'],
      ['execute_tool (merged)', 'invoke_agent bot'],
      ['execute_tool look', 'execute_tool (merged)'],
      ['execute_tool expert', 'execute_tool (merged)'],
      ['invoke_agent expert', 'execute_tool expert'],
      ['chat scripted', 'invoke_agent expert'],
      ['chat scripted', 'invoke_agent bot'],
    ]);
    expect(spans.every(({ ends, error }) => ends === 1 && error === undefined)).toBe(true);
    const run = {
      'gen_ai.conversation.id': 's1',
      'gcp.vertex.agent.invocation_id': expect.any(String),
      'gcp.vertex.agent.session_id': 's1',
    };
    expect(of('invoke_agent bot').attributes).toEqual({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'bot',
      'coxswain.outcome': 'done',
      ...run,
    });
    expect(of('execute_tool (merged)').attributes).toEqual({ 'coxswain.calls': 2, ...run });
    expect(of('execute_tool look').attributes).toEqual({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'look',
      'gen_ai.tool.type': 'function',
      'gen_ai.tool.call.id': expect.any(String),
      'gen_ai.agent.name': 'bot',
      ...run,
    });
  });

  test('tells of a tool that fails, and only of that', async () => {
    const pay = tool('pay', () => {
      throw new Error('no');
    });
    const model = new ScriptedModel([{ calls: [['pay'], ['look']] }, 'done']);
    const { of } = await measured(model, { tools: [pay, tool('look', () => 1)] });
    expect(
      [of('execute_tool pay'), of('execute_tool look'), of('execute_tool (merged)')].map(({ error }) => error),
    ).toEqual(['failed', undefined, undefined]);
  });

  test('tells of an agent that throws, whose run fails with what it has thrown', async () => {
    const { spans, telemetry } = noting();
    const thrown = new Error('broken');
    const agent: Agent = {
      name: 'bot',
      description: '',
      subAgents: [],
      run: () => Promise.reject(thrown),
    };
    const events = await bench(agent, { telemetry }).say('hi');
    expect(spans.map(({ name, error, ends }) => [name, error, ends])).toEqual([['invoke_agent bot', thrown, 1]]);
    expect([endOf(events), errorOf(events)?.message]).toEqual(['failed', expect.stringContaining('broken')]);
  });

  test('tells of a model that fails, and of its agent', async () => {
    const { of } = await measured({ name: 'm', async *generate() {} });
    expect([
      codeOf(of('chat m')),
      codeOf(of('invoke_agent bot')),
      of('invoke_agent bot').attributes['coxswain.outcome'],
    ]).toEqual(['E_MODEL_EMPTY', 'E_MODEL_EMPTY', 'failed']);
  });

  test('tells of an abort wherever something was under way', async () => {
    const stop = new AbortController();
    const wait = tool('wait', (_, { signal }) => {
      stop.abort(new Error('enough'));
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    });
    const { spans } = await measured(
      new ScriptedModel([{ calls: [['wait']] }]),
      { tools: [wait] },
      { signal: stop.signal },
    );
    const ended = spans
      .filter(({ name }) => !name.startsWith('chat'))
      .map((span) => [span.name, codeOf(span), span.ends]);
    expect(ended).toEqual([
      ['invoke_agent bot', 'E_ABORTED', 1],
      ['execute_tool (merged)', 'E_ABORTED', 1],
      ['execute_tool wait', 'E_ABORTED', 1],
    ]);
  });

  test('is a branch beside another below the same agent', async () => {
    const { spans, telemetry } = noting();
    const [a, b] = ['a', 'b'].map((name) => llm(name, new ScriptedModel(['hello']))) as [never, never];
    await bench(new ParallelAgent({ name: 'all', subAgents: [a, b] }), { telemetry }).say('hi');
    const agents = spans.filter(({ name }) => name.startsWith('invoke_agent'));
    expect(agents.map(({ name, parent }) => [name, parent])).toEqual([
      ['invoke_agent all', undefined],
      ['invoke_agent a', 'invoke_agent all'],
      ['invoke_agent b', 'invoke_agent all'],
    ]);
  });
});

describe('what is told of a question to a model', () => {
  const info = { invocation: { invocationId: 'i', sessionId: 's' } } as never;
  const generate = async function* () {};

  test('is its provider, its place and its settings, as far as they are numbers', () => {
    const config = {
      temperature: 0.5,
      topP: 1,
      top_k: 2,
      maxTokens: 3,
      seed: 4,
      presencePenalty: 5,
      frequency_penalty: 6,
    };
    const other = { stop: 'x', toString: 1, made_up: 2 };
    const model: Model = { name: 'm', system: 'openai', server: { address: 'h', port: 1 }, generate };
    expect(requestAttributes(info, model, { name: 'm', config: { ...config, ...other }, stream: true })).toEqual({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'm',
      'gen_ai.request.stream': true,
      'server.address': 'h',
      'server.port': 1,
      'gen_ai.conversation.id': 's',
      'gcp.vertex.agent.invocation_id': 'i',
      'gcp.vertex.agent.session_id': 's',
      'gen_ai.request.temperature': 0.5,
      'gen_ai.request.top_p': 1,
      'gen_ai.request.top_k': 2,
      'gen_ai.request.max_tokens': 3,
      'gen_ai.request.seed': 4,
      'gen_ai.request.presence_penalty': 5,
      'gen_ai.request.frequency_penalty': 6,
    });
    const plain = requestAttributes(
      info,
      { name: 'm', generate },
      { name: 'm', config: { temperature: '1' }, stream: false },
    );
    expect(Object.keys(plain)).toEqual([
      'gen_ai.operation.name',
      'gen_ai.provider.name',
      'gen_ai.request.model',
      'gen_ai.conversation.id',
      'gcp.vertex.agent.invocation_id',
      'gcp.vertex.agent.session_id',
    ]);
    expect(plain['gen_ai.provider.name']).toBe('unknown');
  });

  test('and of its answer is what that says, names that are names', () => {
    const usage = { inputTokens: 1, outputTokens: 2, cachedReadTokens: 3, cacheWriteTokens: 4, thoughtTokens: 5 };
    const response: ModelResponse = { finishReason: 'stop', usage, model: 'x'.repeat(256), responseId: 'r' };
    expect(responseAttributes(response, 1500)).toStrictEqual({
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.response.model': 'x'.repeat(256),
      'gen_ai.response.id': 'r',
      'gen_ai.response.time_to_first_chunk': 1.5,
      'gen_ai.usage.input_tokens': 1,
      'gen_ai.usage.output_tokens': 2,
      'gen_ai.usage.cache_read.input_tokens': 3,
      'gen_ai.usage.cache_write.input_tokens': 4,
      'gen_ai.usage.reasoning.output_tokens': 5,
    });
    expect(responseAttributes({}, undefined)).toStrictEqual({});
    expect(
      responseAttributes({ model: 'x'.repeat(257), responseId: 7 as never, usage: { inputTokens: 0 } }, undefined),
    ).toStrictEqual({
      'gen_ai.usage.input_tokens': 0,
    });
  });

  test('is the time to its first piece where it streams', async () => {
    const model: Model = {
      name: 'm',
      async *generate() {
        yield { partial: true, content: text('a') };
        yield { content: text('a'), finishReason: 'stop' };
      },
    };
    const streamed = (await measured(model)).of('chat m').attributes;
    expect(streamed).toMatchObject({ 'gen_ai.request.stream': true, 'gen_ai.response.finish_reasons': ['stop'] });
    expect(streamed['gen_ai.response.time_to_first_chunk']).toBeGreaterThanOrEqual(0);
    const whole = (await measured(model, {}, { streaming: false })).of('chat m').attributes;
    for (const name of ['gen_ai.request.stream', 'gen_ai.response.time_to_first_chunk'])
      expect(whole).not.toHaveProperty([name]);
  });
});
