import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { UnsupportedFunctionalityError } from '@ai-sdk/provider';
import { describe, expect, onTestFinished, test } from 'vitest';
import { aiSdkModel } from '../../../src/adapters/models/index.ts';
import { openSqlite } from '../../../src/adapters/stores/sqlite.ts';
import { createHost, LlmAgent, run } from '../../../src/index.ts';
import { aiSdkProviders } from './ai-sdk-providers.ts';
import { ask, fetchOf, named, stored, tool, user } from './kit.ts';
import { FakeProvider } from './server.ts';

const counts = {
  inputTokens: { total: 9, noCache: 3, cacheRead: 4, cacheWrite: 2 },
  outputTokens: { total: 5, text: 3, reasoning: 2 },
};
const end = (raw = 'stop', unified: 'stop' | 'other' = 'stop'): LanguageModelV4StreamPart => ({
  type: 'finish',
  finishReason: { unified, raw },
  usage: { ...counts } as never,
});

/** A model of the AI SDK that says these parts; what it was asked. */
function scripted(
  says: (asked: LanguageModelV4CallOptions, count: number) => readonly LanguageModelV4StreamPart[],
  more: Partial<Record<keyof LanguageModelV4, unknown>> = {},
) {
  const asked: LanguageModelV4CallOptions[] = [];
  const language = {
    specificationVersion: 'v4',
    provider: 'acme.chat',
    modelId: 'acme-1',
    supportedUrls: { 'image/*': [/^https:\/\/files\.acme\.test\//] },
    doGenerate: () => Promise.reject(new Error('not here')),
    async doStream(options: LanguageModelV4CallOptions) {
      asked.push(options);
      const parts = says(options, asked.length);
      return {
        stream: new ReadableStream({
          start(out) {
            for (const part of parts) out.enqueue(part);
            out.close();
          },
        }),
      };
    },
    ...more,
  };
  return { model: aiSdkModel(language as LanguageModelV4, { retry: { retries: 0 } }), asked };
}

const text = (id: string, words: string, providerMetadata?: Record<string, Record<string, string>>) => [
  { type: 'text-start', id } as const,
  { type: 'text-delta', id, delta: words } as const,
  { type: 'text-end', id, ...(providerMetadata ? { providerMetadata } : {}) } as const,
];

describe('a model of the AI SDK', () => {
  test('AISDK-1 counts what was cached and thought; files and sources of an answer are kept', async () => {
    const { model } = scripted(() => [
      ...text('1', 'A cat.'),
      { type: 'file', mediaType: 'image/png', data: { type: 'data', data: new Uint8Array([1, 2, 3]) } },
      { type: 'source', sourceType: 'url', id: 's', url: 'https://cats.test' },
      end(),
    ]);
    const { last } = await ask(model);
    expect(last).toMatchObject({
      content: {
        parts: [
          { type: 'text', text: 'A cat.' },
          { type: 'media', mimeType: 'image/png', data: 'AQID' },
        ],
      },
      citationMetadata: { citations: [{ url: 'https://cats.test' }] },
      usage: { inputTokens: 9, cachedReadTokens: 4, cacheWriteTokens: 2, outputTokens: 5, thoughtTokens: 2 },
    });
  });

  test('AISDK-2 what its provider said of each part goes back with that part, and what runs at the provider whole', async () => {
    const meta = (value: string) => ({ acme: { signature: value } });
    const { model, asked } = scripted(() => [
      { type: 'reasoning-start', id: 'r', providerMetadata: meta('early') },
      { type: 'reasoning-delta', id: 'r', delta: 'Hm.' },
      { type: 'reasoning-end', id: 'r', providerMetadata: meta('r+/=é') },
      ...text('t', 'Look.', meta('t')),
      { type: 'tool-call', toolCallId: 's1', toolName: 'search', input: '{"q":1}', providerExecuted: true },
      { type: 'tool-result', toolCallId: 's1', toolName: 'search', result: ['x'] },
      { type: 'custom', kind: 'acme.note', providerMetadata: meta('n') },
      { type: 'tool-call', toolCallId: 'c1', toolName: 'weather', input: '{}', providerMetadata: meta('c') },
      end('tool_use'),
    ]);
    const { last } = await ask(model, { tools: new Map([tool('weather')]) });
    expect(last.finishReason).toBe('tool_calls');
    await ask(model, { contents: [user('hi'), ...stored(last)] });
    const [, assistant, results] = asked[1]?.prompt ?? [];
    expect(assistant?.content).toEqual([
      { type: 'reasoning', text: 'Hm.', providerOptions: meta('r+/=é') },
      { type: 'text', text: 'Look.', providerOptions: meta('t') },
      { type: 'tool-call', toolCallId: 's1', toolName: 'search', input: { q: 1 }, providerExecuted: true },
      { type: 'tool-result', toolCallId: 's1', toolName: 'search', output: { type: 'json', value: ['x'] } },
      { type: 'custom', kind: 'acme.note', providerOptions: meta('n') },
      { type: 'tool-call', toolCallId: 'c1', toolName: 'weather', input: {}, providerOptions: meta('c') },
    ]);
    expect(results).toMatchObject({ role: 'tool', content: [{ toolCallId: 'c1', output: { type: 'text' } }] });
  });

  test.each([
    ['no word at all', [...text('1', 'half')], 'stream_ended'],
    [
      'no reason',
      [...text('1', 'half'), { type: 'finish', finishReason: { unified: 'other' }, usage: counts }],
      'stream_ended',
    ],
    ['a word that nobody knows', [...text('1', 'half'), end('gone_fishing', 'other')], 'gone_fishing'],
    [
      'an approval that nobody here can give',
      [{ type: 'tool-approval-request', approvalId: 'a', toolCallId: 'b' }, end()],
      'tool_approval_request',
    ],
    ['an error in words', [{ type: 'error', error: 'Overloaded' }, end()], 'request_error'],
  ])('AISDK-3 %s is no answer', async (_, parts, code) => {
    const calls = { type: 'tool-call', toolCallId: 'c', toolName: 'weather', input: '{}' };
    const { model } = scripted(() => [calls, ...parts] as never);
    const { last } = await ask(model, { tools: new Map([tool('weather')]) });
    expect(last.errorCode).toBe(code);
    expect(last.content).toBeUndefined();
  });

  test('AISDK-4 a paused turn goes on with what was said, and is one answer with the tokens of both', async () => {
    const { model, asked } = scripted((_, count) =>
      count === 1 ? [...text('1', 'One,'), end('pause_turn')] : [...text('1', ' two.'), end()],
    );
    const { last, text: shown } = await ask(model);
    expect(shown).toBe('One, two.');
    expect(last).toMatchObject({
      content: { parts: [{ text: 'One,' }, { text: ' two.' }] },
      usage: { inputTokens: 18, outputTokens: 10 },
    });
    expect(asked[1]?.prompt.at(-1)).toEqual({ role: 'assistant', content: [{ type: 'text', text: 'One,' }] });
  });

  test('AISDK-5 what a provider does not take is left out with a word instead of ending the session', async () => {
    const isSound = ({ prompt }: LanguageModelV4CallOptions) => JSON.stringify(prompt).includes('"audio/wav"');
    const { model, asked } = scripted((options) => {
      if (isSound(options)) throw new UnsupportedFunctionalityError({ functionality: 'audio/wav' });
      return [...text('1', 'ok'), end()];
    });
    const sound = { type: 'media', mimeType: 'audio/wav', data: 'AQID' } as const;
    const picture = { type: 'media', mimeType: 'image/png', data: 'AQID' } as const;
    const { last } = await ask(model, { contents: [user('listen', sound, picture)] });
    expect(last.finishReason).toBe('stop');
    expect(asked[1]?.prompt[0]?.content).toEqual([
      { type: 'text', text: 'listen' },
      { type: 'text', text: '[audio/wav: not shown, this model cannot read it]' },
      { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AQID' } },
    ]);
  });

  test('AISDK-6 an address goes only to a provider that reads it itself', async () => {
    const { model, asked } = scripted(() => [...text('1', 'ok'), end()]);
    const at = (uri: string) => ({ type: 'media', mimeType: 'image/png', uri }) as const;
    await ask(model, { contents: [user(at('https://files.acme.test/a.png'), at('http://169.254.169.254/a.png'))] });
    expect(asked[0]?.prompt[0]?.content).toMatchObject([
      { type: 'file', data: { type: 'url', url: new URL('https://files.acme.test/a.png') } },
      { type: 'text', text: expect.stringContaining('not shown') },
    ]);
  });

  test('AISDK-7 settings, choice of a tool, format of the answer and the provider’s own arrive', async () => {
    const { model, asked } = scripted(() => [...text('1', 'ok'), end()]);
    const config = {
      topK: 3,
      seed: 7,
      stop: ['x'],
      toolChoice: { name: 'files.save' },
      providerOptions: { acme: { deep: true } },
    };
    const tools = new Map([tool('files.save', { path: { type: 'string' } })]);
    await ask(model, { config, tools, outputSchema: { type: 'object', properties: {} } });
    expect(asked[0]).toMatchObject({
      topK: 3,
      seed: 7,
      stopSequences: ['x'],
      toolChoice: { type: 'tool', toolName: expect.stringMatching(/^files_save_/) },
      responseFormat: { type: 'json', schema: { type: 'object' } },
      providerOptions: { acme: { deep: true } },
    });
  });

  test('AISDK-8 models of AI SDK 5 and 6 work, with the forms that they have for files, reasons and counts', async () => {
    const old = {
      type: 'finish',
      finishReason: 'stop',
      usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5, cachedInputTokens: 1, reasoningTokens: 1 },
    };
    const file = { type: 'file', mediaType: 'image/png', data: 'AQID' };
    const { model, asked } = scripted(() => [...text('1', 'ok'), file, old] as never, { specificationVersion: 'v2' });
    const picture = { type: 'media', mimeType: 'image/png', data: 'AQID' } as const;
    const { last } = await ask(model, { contents: [user(picture)] });
    expect(asked[0]?.prompt[0]?.content).toEqual([file]);
    expect(last).toMatchObject({
      finishReason: 'stop',
      content: { parts: [{ text: 'ok' }, { type: 'media', data: 'AQID' }] },
      usage: { inputTokens: 3, outputTokens: 2, cachedReadTokens: 1, thoughtTokens: 1 },
    });
  });

  test('AISDK-9 what is no model, or one of another version, is refused when it is given', () => {
    expect(() => aiSdkModel('openai/gpt-5' as never)).toThrow(expect.objectContaining({ code: 'E_BAD_INPUT' }));
    expect(() => scripted(() => [], { specificationVersion: 'v9' })).toThrow(
      expect.objectContaining({ code: 'E_MODEL_SETUP' }),
    );
    const options = { apiKey: 'x' } as never;
    const { asked } = scripted(() => []);
    expect(asked).toEqual([]);
    expect(() =>
      aiSdkModel(
        { specificationVersion: 'v4', provider: 'p', modelId: 'm', doGenerate: async () => 1, doStream: async () => 1 },
        options,
      ),
    ).toThrow(expect.objectContaining({ code: 'E_BAD_INPUT' }));
  });

  test('AISDK-13 asked under the name of another model it answers nothing', async () => {
    const { model, asked } = scripted(() => [...text('1', 'ok'), end()]);
    await expect(ask(model, { model: 'acme-2' })).rejects.toMatchObject({ code: 'E_NO_MODEL' });
    expect(asked).toEqual([]);
    expect((await ask(model, { model: 'acme-1' })).last.finishReason).toBe('stop');
  });

  test('AISDK-10 one that hears no abort and never answers holds up nobody', async () => {
    const language = {
      specificationVersion: 'v4',
      provider: 'acme',
      modelId: 'm',
      doGenerate: () => new Promise(() => {}),
      doStream: () => new Promise(() => {}),
    };
    const abort = new AbortController();
    const reason = new Error('stop');
    const pending = ask(aiSdkModel(language), {}, { signal: abort.signal });
    setImmediate(() => abort.abort(reason));
    await expect(pending).rejects.toBe(reason);
    const { last } = await ask(aiSdkModel(language, { timeoutMs: 5, retry: { retries: 0 } }));
    expect(last).toMatchObject({ errorCode: 'timeout', retryable: true });
  });

  test('AISDK-11 tokens of an answer of Anthropic that broke off are told', async () => {
    const under = aiSdkProviders[0];
    if (!under) throw new Error('no provider');
    const usage = { input_tokens: 5, cache_read_input_tokens: 7, output_tokens: 1 };
    const body = named(
      {
        type: 'message_start',
        message: { id: 'm', type: 'message', role: 'assistant', content: [], model: 'm', usage },
      } as never,
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } } as never,
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'well' } } as never,
    );
    const fetch = fetchOf([new TextEncoder().encode(body)]);
    const { last } = await ask(under.model('http://fake.invalid', { fetch, retry: { retries: 0 } }));
    expect(last).toMatchObject({ errorCode: 'stream_ended', usage: { inputTokens: 12, cachedReadTokens: 7 } });
  });
});

test.each(aiSdkProviders)('AISDK-12 signatures survive a store and another process at $title', async (under) => {
  await using fake = await FakeProvider.start(({ body }, count) => {
    const [name = ''] = under.read(body).tools;
    const first = { thought: 'Plan.', text: 'Looking.', calls: [{ id: 'c1', name, args: { city: 'Rome', n: 1.5 } }] };
    return { body: under.answer(count === 1 ? first : { text: 'done' }).stream };
  });
  const weather = {
    name: 'weather',
    description: 'd',
    inputSchema: { type: 'object' },
    annotations: { readOnly: true },
    execute: () => 'sunny',
  };
  const store = await openSqlite(':memory:');
  onTestFinished(() => store.close());
  const open = () =>
    createHost({
      app: 'a',
      agents: [new LlmAgent({ name: 'bot', model: under.model(fake.url), tools: [weather] })],
      store,
    }).open('bot', { sessionId: 's', create: true });
  await run(await open(), 'hi');
  await run(await open(), 'and now?');
  expect(fake.requests).toHaveLength(3);
  for (const { body } of fake.requests.slice(1)) expect(under.proof.of(body)).toEqual(under.proof.expected);
});
