import { describe, expect, test } from 'vitest';
import { anthropicModel, openaiResponsesModel } from '../../../src/adapters/models/index.ts';
import { call, model, result, tool, user } from './kit.ts';
import type { Make, Sent } from './sent.ts';
import { anthropic, chat, contentsOf, gemini, oldGemini, responses, sent } from './sent.ts';

describe('settings', () => {
  const config = {
    ...{ temperature: 0.1, topP: 0.2, topK: 3, maxOutputTokens: 4, stopSequences: ['x'], seed: 5 },
    ...{ presencePenalty: 0.6, frequencyPenalty: 0.7, own: { a: 1 }, none: undefined },
  };
  const settings = async (make: Make, given: object = config) => {
    const { model: _, messages: __, input: ___, contents: ____, ...rest } = await sent(make, { config: { ...given } });
    return rest;
  };
  test('have the names that each provider gives them', async () => {
    expect(await settings(anthropic)).toEqual({
      ...{ temperature: 0.1, top_p: 0.2, top_k: 3, max_tokens: 4, stop_sequences: ['x'], own: { a: 1 }, stream: true },
    });
    expect(await settings(chat)).toMatchObject({
      ...{ temperature: 0.1, top_p: 0.2, max_completion_tokens: 4, stop: ['x'], seed: 5 },
      ...{ presence_penalty: 0.6, frequency_penalty: 0.7, own: { a: 1 }, stream: true },
    });
    expect(await settings(responses)).toEqual({
      ...{ temperature: 0.1, top_p: 0.2, max_output_tokens: 4, own: { a: 1 }, store: false, stream: true },
    });
    expect((await settings(gemini)).generationConfig).toMatchObject({
      ...{ temperature: 0.1, topP: 0.2, topK: 3, maxOutputTokens: 4, stopSequences: ['x'], seed: 5 },
      ...{ presencePenalty: 0.6, frequencyPenalty: 0.7 },
    });
  });

  test.each([
    ['top_p', 'topP', 'top_p'],
    ['top_k', 'topK', 'top_k'],
    ['max_output_tokens', 'maxOutputTokens', 'max_tokens'],
    ['maxTokens', 'maxOutputTokens', 'max_tokens'],
    ['max_tokens', 'maxOutputTokens', 'max_tokens'],
    ['max_completion_tokens', 'maxOutputTokens', 'max_tokens'],
    ['stop_sequences', 'stopSequences', 'stop_sequences'],
    ['stop', 'stopSequences', 'stop_sequences'],
  ])('%s is another name of %s', async (alias, _, name) => {
    expect(await settings(anthropic, { [alias]: 7 })).toMatchObject({ [name]: 7 });
  });

  test('of a request count more than those of its model', async () => {
    const make: Make = (options) => anthropicModel('claude', { ...options, config: { temperature: 1, a: 1, b: 1 } });
    expect(await settings(make, { temperature: 2, b: 2 })).toMatchObject({ temperature: 2, a: 1, b: 2 });
  });

  test('without streaming nothing is said of it', async () => {
    for (const make of [anthropic, chat, responses]) {
      const body = await sent(make, {}, false);
      expect(body).not.toHaveProperty('stream_options');
      expect(body.stream ?? false).toBe(false);
    }
    expect(await sent(chat, {})).toMatchObject({ stream: true, stream_options: { include_usage: true } });
    expect(await sent(anthropic, {}, false)).toMatchObject({ model: 'claude', max_tokens: expect.any(Number) });
  });

  test('instructions stand where each provider has them, and nowhere if there are none', async () => {
    const init = { systemInstruction: 'be brief' };
    expect(await sent(anthropic, init)).toMatchObject({ system: 'be brief' });
    expect((await sent(chat, init)).messages).toMatchObject([
      { role: 'system', content: 'be brief' },
      { role: 'user' },
    ]);
    expect(await sent(responses, init)).toMatchObject({ instructions: 'be brief' });
    expect(JSON.stringify((await sent(gemini, init)).systemInstruction)).toContain('be brief');
    expect(await sent(anthropic, {})).not.toHaveProperty('system');
    expect((await sent(chat, {})).messages).toHaveLength(1);
    expect(await sent(responses, {})).not.toHaveProperty('instructions');
    expect(await sent(gemini, {})).not.toHaveProperty('systemInstruction');
  });
});

describe('tools', () => {
  const tools = new Map([tool('f', { x: { type: 'integer' } }), tool('g h')]);
  const choose = async (make: Make, toolChoice: unknown) => sent(make, { tools, config: { toolChoice } });

  test('are declared, under names that are taken', async () => {
    const names = (list: unknown) =>
      (list as { name?: string; function?: { name: string } }[]).map((one) => one.name ?? one.function?.name);
    expect(names((await sent(anthropic, { tools })).tools)).toEqual(['f', expect.stringMatching(/^[\w-]+$/)]);
    expect(names((await sent(chat, { tools })).tools)).toEqual(['f', expect.stringMatching(/^[\w-]+$/)]);
    expect((await sent(responses, { tools })).tools).toMatchObject([
      { type: 'function', name: 'f', description: 'does f', parameters: { properties: { x: { type: 'integer' } } } },
      { type: 'function', strict: false },
    ]);
    expect((await sent(anthropic, { tools })).tools).toMatchObject([
      { name: 'f', description: 'does f', input_schema: { type: 'object', properties: { x: { type: 'integer' } } } },
      {},
    ]);
    const [{ functionDeclarations }] = (await sent(gemini, { tools })).tools as [{ functionDeclarations: Sent[] }];
    expect(functionDeclarations).toMatchObject([{ name: 'f', description: 'does f', parameters: {} }, {}]);
    for (const make of [anthropic, chat, responses, gemini]) {
      const body = await sent(make, { config: { toolChoice: 'auto' } });
      expect(body).not.toHaveProperty('tools');
      expect(body).not.toHaveProperty('tool_choice');
      expect(body).not.toHaveProperty('toolConfig');
    }
  });

  test.each<[unknown, unknown, unknown, unknown, unknown]>([
    ['auto', { type: 'auto' }, 'auto', 'auto', { mode: 'AUTO' }],
    ['none', { type: 'none' }, 'none', 'none', { mode: 'NONE' }],
    ['required', { type: 'any' }, 'required', 'required', { mode: 'ANY' }],
    [
      { name: 'f' },
      { type: 'tool', name: 'f' },
      { type: 'function', function: { name: 'f' } },
      { type: 'function', name: 'f' },
      { mode: 'ANY', allowedFunctionNames: ['f'] },
    ],
    [undefined, undefined, undefined, undefined, undefined],
  ])('choice of %j', async (choice, ofAnthropic, ofChat, ofResponses, ofGemini) => {
    expect((await choose(anthropic, choice)).tool_choice).toEqual(ofAnthropic);
    expect((await choose(chat, choice)).tool_choice).toEqual(ofChat);
    expect((await choose(responses, choice)).tool_choice).toEqual(ofResponses);
    const { toolConfig } = (await choose(gemini, choice)) as { toolConfig?: { functionCallingConfig: unknown } };
    expect(toolConfig?.functionCallingConfig).toEqual(ofGemini);
  });

  test('an answer of a form is asked for in the words of each provider', async () => {
    const outputSchema = {
      type: 'object',
      properties: { a: { type: 'string' } },
      required: ['a'],
      additionalProperties: false,
    };
    const init = { outputSchema };
    expect((await sent(anthropic, init)).output_config).toMatchObject({ format: { type: 'json_schema' } });
    expect((await sent(chat, init)).response_format).toEqual({
      type: 'json_schema',
      json_schema: { name: 'answer', schema: expect.objectContaining({ type: 'object' }), strict: true },
    });
    expect((await sent(responses, init)).text).toEqual({
      format: {
        type: 'json_schema',
        name: 'answer',
        schema: expect.objectContaining({ type: 'object' }),
        strict: true,
      },
    });
    for (const make of [gemini, oldGemini]) {
      expect((await sent(make, init)).generationConfig).toMatchObject({
        responseMimeType: 'application/json',
        responseJsonSchema: outputSchema,
      });
    }
    expect((await sent(gemini, { ...init, tools })).generationConfig).toHaveProperty('responseJsonSchema');
    const old = await sent(oldGemini, { ...init, tools, systemInstruction: 'be brief' });
    expect(old.generationConfig ?? {}).not.toHaveProperty('responseJsonSchema');
    expect(JSON.stringify(old.systemInstruction)).toMatch(/be brief\\n\\nYour final answer is JSON/);
    for (const make of [anthropic, chat, responses]) {
      const body = await sent(make, {});
      for (const name of ['output_config', 'response_format', 'text']) expect(body).not.toHaveProperty(name);
    }
  });

  test('calls of another provider are signed for models that insist on it, the first of a turn alone', async () => {
    const turns = [
      user('hi'),
      model(call('a', 'f'), call('b', 'f')),
      user(result('a', 'f', {}), result('b', 'f', {})),
    ] as const;
    const signatures = async (make: Make) =>
      ((await contentsOf(make, ...turns))[1]?.parts ?? []).map((part) => (part as Sent).thoughtSignature);
    expect(await signatures(gemini)).toEqual([expect.any(String), undefined]);
    expect(await signatures(oldGemini)).toEqual([undefined, undefined]);
  });

  test.each([
    ['o3', true],
    ['gpt-5', true],
    ['openai/gpt-5.1-codex', true],
    ['gpt-5-chat-latest', false],
    ['gpt-4o', false],
  ])('%s is asked for its reasoning: %s', async (name, expected) => {
    const body = await sent((options) => openaiResponsesModel(name, options), {});
    expect(body.include).toEqual(expected ? ['reasoning.encrypted_content'] : undefined);
  });
});
