import { describe, expect, test } from 'vitest';
import { fromBody } from '../../../src/adapters/models/content/failure.ts';
import { aiSdkModel, fallbackModel } from '../../../src/adapters/models/index.ts';
import { windowOf } from '../../../src/adapters/models/wire/windows.ts';
import { LlmAgent } from '../../../src/index.ts';
import { bench, endOf, errorOf } from '../../runtime/kit.ts';
import { ask } from './kit.ts';
import { providers } from './providers.ts';
import { FakeProvider } from './server.ts';

const fail = () => Promise.reject(new Error('not here'));

describe('CMP-7 a request that is too long, in the words of providers', () => {
  test.each<[string, number, unknown]>([
    [
      'OpenAI',
      400,
      { error: { code: 'context_length_exceeded', message: 'Your input exceeds the context window of this model.' } },
    ],
    [
      'vLLM, DeepSeek',
      400,
      { message: "This model's maximum context length is 65536 tokens. However, you requested 70000 tokens" },
    ],
    [
      'Anthropic',
      400,
      {
        type: 'error',
        error: { type: 'invalid_request_error', message: 'prompt is too long: 208310 tokens > 200000 maximum' },
      },
    ],
    [
      'Anthropic',
      400,
      {
        type: 'error',
        error: {
          type: 'invalid_request_error',
          message: 'input length and `max_tokens` exceed context limit: 199759 + 8192 > 200000',
        },
      },
    ],
    [
      'Gemini',
      400,
      {
        error: {
          code: 400,
          status: 'INVALID_ARGUMENT',
          message: 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
        },
      },
    ],
    ['xAI', 400, { error: "This model's maximum prompt length is 131072 but the request contains 140000 tokens." }],
    [
      'llama.cpp',
      400,
      { error: { type: 'exceed_context_size_error', message: 'the request exceeds the available context size' } },
    ],
    ['Bedrock', 400, { message: 'Input is too long for requested model.' }],
    ['Bedrock', 400, { message: 'input length exceeds context window' }],
    ['Bedrock', 400, { message: 'input and output tokens exceed your context limit' }],
    [
      'OpenRouter',
      400,
      {
        error: {
          code: 400,
          message:
            "This endpoint's maximum context length is 32768 tokens. However, you requested about 42832 tokens (42832 of text input).",
        },
      },
    ],
    [
      'GitHub Copilot',
      400,
      {
        error: {
          code: 'model_max_prompt_tokens_exceeded',
          message: 'prompt token count of 140000 exceeds the limit of 128000',
        },
      },
    ],
    [
      'Anthropic, of bytes',
      413,
      {
        type: 'error',
        error: { type: 'request_too_large', message: 'Request exceeds the maximum allowed number of bytes' },
      },
    ],
    [
      'Gemini, with details',
      400,
      {
        error: {
          code: 400,
          message: 'The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).',
          errors: [{ domain: 'global', reason: 'badRequest' }],
          status: 'INVALID_ARGUMENT',
        },
      },
    ],
  ])('%s (%d)', (_, status, body) => {
    expect(fromBody(body, status)).toMatchObject({ code: 'context_length_exceeded', retryable: false });
  });

  test.each<[string, number, unknown]>([
    [
      'a rate limit',
      429,
      { error: { message: 'Request too large: Limit 30000 input tokens per minute, maximum context length is fine' } },
    ],
    [
      'an answer that is too long',
      400,
      { error: { message: 'max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens' } },
    ],
    ['anything else', 400, { error: { message: 'tools.0.name: too long' } }],
  ])('not %s', (_, status, body) => {
    expect(fromBody(body, status).code).toBe(`http_${status}`);
  });

  test('windows are known by the beginning of a name, the longest counts', () => {
    const known = {
      'gpt-4o-mini': 128_000,
      'gpt-4-0613': 8_192,
      'openai/gpt-5-mini': 272_000,
      'gpt-5.4-2026-03-05': 922_000,
      'gpt-5.4-mini': 272_000,
      'claude-sonnet-5': 1_000_000,
      'claude-opus-4-6': 1_000_000,
      'claude-opus-4-5-20251101': 200_000,
      'claude-haiku-4-5': 200_000,
      'gemini-3-flash-preview': 1_048_576,
      'llama-9': undefined,
    };
    expect(Object.fromEntries(Object.keys(known).map((name) => [name, windowOf(name)]))).toEqual(known);
  });

  test('of a model of the AI SDK by its name, or as it is given; of several the smallest', () => {
    const language = {
      specificationVersion: 'v4',
      provider: 'acme',
      modelId: 'gpt-4o',
      doGenerate: fail,
      doStream: fail,
    };
    const [known, given] = [
      aiSdkModel(language),
      aiSdkModel({ ...language, modelId: 'acme-1' }, { contextWindow: 9000 }),
    ];
    const unknown = aiSdkModel({ ...language, modelId: 'acme-2' });
    const windows = [known, given, unknown].map((model) => model.contextWindow?.(model.name));
    expect(windows).toEqual([128_000, 9000, undefined]);
    const several = fallbackModel([known, given, unknown]);
    expect([several.name, 'gpt-4o', 'acme-2'].map((name) => several.contextWindow?.(name))).toEqual([
      9000,
      128_000,
      undefined,
    ]);
    expect(fallbackModel([unknown]).contextWindow?.('acme-2')).toBeUndefined();
  });
});

describe.each(providers)('$title', (under) => {
  test('CMP-7 asked once, not again; the turn ends with E_CONTEXT where nothing can be left out', async () => {
    await using fake = await FakeProvider.start(() => under.error(400, 'prompt is too long: 9 tokens > 8 maximum'));
    const { last } = await ask(under.model(fake.url));
    expect(last).toMatchObject({ errorCode: 'context_length_exceeded', retryable: false });
    expect(fake.requests).toHaveLength(1);
    const { say } = bench(new LlmAgent({ name: 'bot', model: under.model(fake.url) }));
    const events = await say('hi');
    expect([errorOf(events)?.code, endOf(events)]).toEqual(['E_CONTEXT', 'failed']);
  });
});
