import { SpanKind } from '@opentelemetry/api';
import { describe, expect, test } from 'vitest';
import { anthropicModel, geminiModel, openaiChatModel, openaiResponsesModel } from '../../src/adapters/models/index.ts';
import { ModelServer } from '../../src/conformance/index.ts';
import { PACKAGE_VERSION } from '../../src/contracts/index.ts';
import { allowAll, createHost, fromAgent, LlmAgent, run } from '../../src/index.ts';
import { agentTool } from '../../src/runtime/index.ts';
import { responseAttributes } from '../../src/runtime/step/model-telemetry.ts';
import type { Script } from '../../src/testing/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { tool } from '../runtime/kit.ts';
import type { Value } from './genai-conventions.ts';
import { METRICS, PROVIDERS, SPANS } from './genai-conventions.ts';
import { recorder } from './recorder.ts';

type Recorder = ReturnType<typeof recorder>;

const usage = { inputTokens: 30, outputTokens: 20, cachedReadTokens: 10, cacheWriteTokens: 5, thoughtTokens: 7 };
const look = tool('look', () => 'seen', { annotations: { readOnly: true } });

/** A turn with a call of a tool of the agent, or of the host, and a sub-agent. */
async function turn(told: Recorder, hosted: boolean): Promise<void> {
  const expert = new LlmAgent({ name: 'expert', description: 'knows', model: new ScriptedModel(['indeed']) });
  const script: Script[] = [
    { calls: [['look'], ['expert', { request: 'go' }]], usage },
    { deltas: ['do', 'ne'], usage },
  ];
  const boss = new LlmAgent({
    name: 'boss',
    model: new ScriptedModel(script),
    tools: [agentTool(expert), ...(hosted ? [] : [look])],
    generateContentConfig: { temperature: 0.5, maxOutputTokens: 100, topK: 3, seed: 7 },
  });
  const { telemetry } = told;
  const session = hosted
    ? await createHost({ app: 'app', agents: [boss], tools: [look], policy: allowAll(), telemetry }).open('boss')
    : await fromAgent(boss, { telemetry }).open({}, { app: 'app' });
  expect(await run(session, 'hi')).toMatchObject({ reason: 'completed' });
  await session[Symbol.asyncDispose]();
}

function isOf(value: unknown, type: Value): boolean {
  if (type === 'string[]') return Array.isArray(value) && value.every((item) => typeof item === 'string');
  if (type === 'int') return Number.isInteger(value);
  return typeof value === (type === 'double' ? 'number' : type);
}

/** What is not as the conventions have it. */
function faults({ spans, instruments }: Recorder): string[] {
  const ofSpans = spans().flatMap(({ name, kind, attributes }) => {
    const operation = attributes['gen_ai.operation.name'];
    const convention = SPANS[String(operation)];
    if (operation === undefined) return [];
    if (!convention) return [`${name}: no operation ${operation}`];
    const found: string[] = [];
    if (name !== `${operation} ${attributes[convention.named]}`) found.push(`${name}: its name`);
    if (SpanKind[kind] !== convention.kind) found.push(`${name}: its kind ${SpanKind[kind]}`);
    for (const [key, [level]] of Object.entries(convention.attributes)) {
      if (level === 'required' && attributes[key] === undefined) found.push(`${name}: no ${key}`);
    }
    for (const [key, value] of Object.entries(attributes)) {
      if (!/^(gen_ai|server|error)\./.test(key)) continue;
      const type = convention.attributes[key]?.[1];
      if (!type) found.push(`${name}: ${key} is not of this span`);
      else if (!isOf(value, type)) found.push(`${name}: ${key} is no ${type}`);
    }
    return found;
  });
  const ofMetrics = [...instruments].flatMap(([name, { instrument, options, points }]) => {
    const convention = METRICS[name];
    if (!convention) return [`${name} is no metric`];
    const { required, allowed, boundaries, unit } = convention;
    const found: string[] = [];
    if (instrument !== convention.instrument || options.unit !== unit)
      found.push(`${name}: ${instrument} of ${options.unit}`);
    if (JSON.stringify(options.advice?.explicitBucketBoundaries) !== JSON.stringify(boundaries)) {
      found.push(`${name}: its boundaries`);
    }
    for (const { value, attributes } of points) {
      if (!(value >= 0)) found.push(`${name}: ${value}`);
      for (const key of required) if (attributes[key] === undefined) found.push(`${name}: no ${key}`);
      for (const key of Object.keys(attributes)) {
        if (![...required, ...allowed].includes(key)) found.push(`${name}: ${key} is not of it`);
      }
    }
    return found;
  });
  return [...ofSpans, ...ofMetrics];
}

describe.each([
  ['an agent by itself', false],
  ['a host that runs its tool', true],
])('%s', (_, hosted) => {
  test('IOP-O2 IOP-O3 IOP-O4 names, kinds and attributes of its spans are those of the conventions', async () => {
    const told = recorder();
    await turn(told, hosted);
    expect(faults(told)).toEqual([]);
    const operations = new Set(told.spans().map(({ attributes }) => attributes['gen_ai.operation.name']));
    expect(operations).toEqual(new Set([undefined, 'chat', 'execute_tool', 'invoke_agent']));
    const [conversation, ...others] = new Set(
      told.spans().flatMap(({ attributes }) => attributes['gen_ai.conversation.id'] ?? []),
    );
    expect([typeof conversation, others.length]).toEqual(['string', 0]);
    const last = told.spans().findLast(({ name }) => name === 'chat scripted');
    expect(last?.attributes).toMatchObject({
      'gen_ai.request.temperature': 0.5,
      'gen_ai.request.max_tokens': 100,
      'gen_ai.request.top_k': 3,
      'gen_ai.request.seed': 7,
      'gen_ai.request.stream': true,
      'gen_ai.usage.input_tokens': 30,
      'gen_ai.usage.cache_read.input_tokens': 10,
      'gen_ai.usage.cache_write.input_tokens': 5,
      'gen_ai.usage.reasoning.output_tokens': 7,
      'gen_ai.response.time_to_first_chunk': expect.any(Number),
    });
    const look = told.spans().find(({ name }) => name === 'execute_tool look');
    expect(look?.attributes).toMatchObject({ 'gen_ai.tool.type': 'function', 'gen_ai.agent.name': 'boss' });
    expect(told.spans()[0]?.instrumentationScope).toMatchObject({ name: 'coxswain', version: PACKAGE_VERSION });
  });

  test('IOP-O5 metrics count each call of a model, tool and agent once', async () => {
    const told = recorder();
    await turn(told, hosted);
    expect(told.scopes).toEqual([['coxswain', PACKAGE_VERSION]]);
    for (const name of ['gen_ai.client.operation.duration', 'gen_ai.client.inference.duration']) {
      expect(told.points(name)).toHaveLength(3);
    }
    const sum = (name: string) => told.points(name).reduce((total, { value }) => total + value, 0);
    expect(sum('gen_ai.client.inference.usage.input_tokens')).toBe(60);
    expect(sum('gen_ai.client.inference.usage.reasoning.output_tokens')).toBe(14);
    expect(
      told.points('gen_ai.client.token.usage').map(({ value, attributes }) => [attributes['gen_ai.token.type'], value]),
    ).toEqual([
      ['input', 30],
      ['output', 20],
      ['input', 30],
      ['output', 20],
    ]);
    const tools = told.points('gen_ai.execute_tool.duration').map(({ attributes }) => attributes['gen_ai.tool.name']);
    expect(tools.sort()).toEqual(['expert', 'look']);
    const agents = told.points('gen_ai.invoke_agent.duration').map(({ attributes }) => attributes['gen_ai.agent.name']);
    expect(new Set(agents)).toEqual(new Set(['boss', 'expert']));
  });
});

test('IOP-O5 what fails is counted with the kind of its error, and no words', async () => {
  const told = recorder();
  const broken = tool('broken', () => Promise.reject(new Error('the secret')));
  const model = new ScriptedModel([{ calls: [['broken']] }, { error: new TypeError('the secret') }]);
  const agent = new LlmAgent({ name: 'a', model, tools: [broken] });
  await run(await fromAgent(agent, { telemetry: told.telemetry }).open({}, { app: 'app' }), 'hi');
  expect(faults(told)).toEqual([]);
  const errors = (name: string) => told.points(name).map(({ attributes }) => attributes['error.type']);
  expect(errors('gen_ai.client.operation.duration')).toEqual([undefined, 'TypeError']);
  expect(errors('gen_ai.execute_tool.duration')).toEqual(['failed']);
  expect(errors('gen_ai.invoke_agent.duration')).toEqual(['E_MODEL']);
  expect(JSON.stringify([...told.instruments])).not.toContain('secret');
});

describe('models of providers', () => {
  test.each([
    ['openai', (baseUrl: string) => openaiChatModel('m', { baseUrl: `${baseUrl}/v1`, apiKey: 'k' })],
    ['openai', (baseUrl: string) => openaiResponsesModel('m', { baseUrl: `${baseUrl}/v1`, apiKey: 'k' })],
    ['anthropic', (baseUrl: string) => anthropicModel('m', { baseUrl, apiKey: 'k' })],
    ['gcp.gemini', (baseUrl: string) => geminiModel('m', { baseUrl, apiKey: 'k' })],
  ])('IOP-O1 %s: its name, its place, and what its answer says of itself', async (provider, modelAt) => {
    const told = recorder();
    await using server = await ModelServer.start({
      script: [{ text: 'hello', usage: { inputTokens: 3, outputTokens: 2 } }],
    });
    const agent = new LlmAgent({ name: 'a', model: modelAt(server.url) });
    await run(await fromAgent(agent, { telemetry: told.telemetry }).open({}, { app: 'app' }), 'hi');
    expect(faults(told)).toEqual([]);
    const place = { 'server.address': '127.0.0.1', 'server.port': Number(new URL(server.url).port) };
    const [chat] = told.spans().filter(({ name }) => name === 'chat m');
    expect(chat?.attributes).toMatchObject({
      'gen_ai.provider.name': provider,
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.response.model': expect.any(String),
      'gen_ai.response.id': expect.any(String),
      'gen_ai.usage.input_tokens': 3,
      ...place,
    });
    const [point] = told.points('gen_ai.client.operation.duration');
    expect(point?.attributes).toMatchObject({ 'gen_ai.provider.name': provider, ...place });
  });

  test.each([
    [undefined, 'openai', 'api.openai.com'],
    ['https://api.deepseek.com/v1', 'deepseek', 'api.deepseek.com'],
    ['https://team.openai.azure.com/openai/v1', 'azure.ai.openai', 'team.openai.azure.com'],
    ['https://api.groq.com/openai/v1', 'groq', 'api.groq.com'],
    ['https://notgroq.com/v1', 'openai', 'notgroq.com'],
  ])('IOP-O1 a server of the same API at %s is %s', (baseUrl, system, address) => {
    const model = openaiChatModel('m', baseUrl === undefined ? { apiKey: 'k' } : { baseUrl, apiKey: 'k' });
    expect(model).toMatchObject({ system, server: { address, port: 443 } });
    expect(PROVIDERS).toContain(model.system);
  });
});

test('EDGE-T1 what a provider calls itself is told as long as it is a name', () => {
  const named = { model: 'm'.repeat(256), responseId: 'r-1' };
  expect(responseAttributes(named, undefined)).toEqual({
    'gen_ai.response.model': named.model,
    'gen_ai.response.id': 'r-1',
  });
  const odd = { model: 'm'.repeat(257), responseId: { id: 1 } as unknown as string };
  expect(responseAttributes(odd, undefined)).toEqual({});
});
