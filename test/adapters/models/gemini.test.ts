import { describe, expect, test } from 'vitest';
import { geminiModel } from '../../../src/adapters/models/index.ts';
import type { ContentPart } from '../../../src/contracts/index.ts';
import { ask, call, fetchOf, model, result, sse, stored, tool, user } from './kit.ts';
import { FakeProvider } from './server.ts';

const tools = new Map([tool('f', { x: { type: 'integer' } }), tool('g')]);
const chunk = (parts: object[], finishReason?: string, more: object = {}) => ({
  candidates: [{ content: { role: 'model', parts }, ...(finishReason ? { finishReason } : {}) }],
  ...more,
});
const at = (...chunks: object[]) =>
  geminiModel('gemini-3-pro', {
    apiKey: 'AIza0123456789',
    fetch: fetchOf([new TextEncoder().encode(sse(...chunks))]),
    retry: { retries: 0 },
  });
const contentsOf = (fake: FakeProvider) => fake.requests.at(-1)?.body.contents as { role: string; parts: unknown[] }[];
const served = async (...chunks: object[]) => {
  const fake = await FakeProvider.start(() => ({ body: sse(...chunks) }));
  return {
    fake,
    m: geminiModel('gemini-3-pro', { apiKey: 'AIza0123456789', baseUrl: fake.url }),
    [Symbol.asyncDispose]: () => fake[Symbol.asyncDispose](),
  };
};

describe('F2 F7 thought signatures stay on the very part that they came on', () => {
  test('parallel calls: the first is signed, its sibling is not, both go back in one content', async () => {
    await using served3 = await served(
      chunk([{ functionCall: { name: 'f', args: { x: 1 } }, thoughtSignature: 's1' }]),
      chunk([{ functionCall: { name: 'g' } }], 'STOP'),
    );
    const { fake, m } = served3;
    const { last } = await ask(m, { tools });
    const history = JSON.parse(JSON.stringify([user('hi'), ...stored(last, [{ a: 1 }, { b: 2 }])]));
    await ask(m, { tools, contents: history });
    expect(contentsOf(fake).slice(1)).toEqual([
      {
        role: 'model',
        parts: [
          { functionCall: { name: 'f', args: { x: 1 } }, thoughtSignature: 's1' },
          { functionCall: { name: 'g', args: {} } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { name: 'f', response: { a: 1 } } },
          { functionResponse: { name: 'g', response: { b: 2 } } },
        ],
      },
    ]);
  });

  test('an empty signed text is kept, not shown and not merged', async () => {
    await using served3 = await served(
      chunk([{ text: 'Hel' }]),
      chunk([{ text: 'lo' }]),
      chunk([{ text: '', thoughtSignature: 's' }], 'STOP'),
    );
    const { fake, m } = served3;
    const { last, text, frames } = await ask(m);
    expect([text, frames.length]).toEqual(['Hello', 3]);
    await ask(m, { contents: [user('hi'), ...stored(last), user('more')] });
    expect(contentsOf(fake)[1]?.parts).toEqual([{ text: 'Hello' }, { text: '', thoughtSignature: 's' }]);
  });

  test('a signed piece in the middle stays apart on both sides', async () => {
    const { last } = await ask(
      at(chunk([{ text: 'a' }]), chunk([{ text: 'b', thoughtSignature: 's' }]), chunk([{ text: 'c' }], 'STOP')),
    );
    expect(last.content?.parts.map((part) => (part.type === 'text' ? part.text : ''))).toEqual(['a', 'b', 'c']);
  });

  test('ids that came go back; none is invented', async () => {
    await using served3 = await served(chunk([{ functionCall: { id: 'id7', name: 'g', args: {} } }], 'STOP'));
    const { fake, m } = served3;
    const { last } = await ask(m, { tools });
    await ask(m, { tools, contents: [user('hi'), ...stored(last)] });
    expect(contentsOf(fake)[1]?.parts).toEqual([{ functionCall: { id: 'id7', name: 'g', args: {} } }]);
    expect(contentsOf(fake)[2]?.parts).toMatchObject([{ functionResponse: { id: 'id7', name: 'g' } }]);
  });

  test("another model's calls say that they are not signed, once a turn, and only to models that insist", async () => {
    await using served3 = await served(chunk([{ text: 'ok' }], 'STOP'));
    const { fake, m } = served3;
    const contents = [
      user('hi'),
      model(call('a', 'f'), call('b', 'g')),
      user(result('a', 'f', {}), result('b', 'g', {})),
    ];
    await ask(m, { tools, contents });
    const signatures = () =>
      contentsOf(fake)[1]?.parts.map((part) => (part as { thoughtSignature?: string }).thoughtSignature);
    expect(signatures()).toEqual(['skip_thought_signature_validator', undefined]);
    await ask(geminiModel('gemini-2.5-flash', { apiKey: 'AIza0123456789', baseUrl: fake.url }), { tools, contents });
    expect(signatures()).toEqual([undefined, undefined]);
  });
});

describe('ends', () => {
  test('F6 a call, then an empty end: completed, no text, no error', async () => {
    const { last } = await ask(at({ candidates: [{ finishReason: 'STOP', content: { parts: [] } }] }));
    expect(last).toEqual({ content: { role: 'model', parts: [] }, turnComplete: true, finishReason: 'stop' });
  });

  test.each(['MALFORMED_FUNCTION_CALL', 'MALFORMED_RESPONSE', 'UNEXPECTED_TOOL_CALL'])(
    '%s is worth another try',
    async (reason) => {
      await using fake = await FakeProvider.start((_request, count) => ({
        body: sse(count === 1 ? chunk([], reason) : chunk([{ text: 'ok' }], 'STOP')),
      }));
      const options = { apiKey: 'AIza0123456789', baseUrl: fake.url, retry: { sleep: async () => {}, retries: 1 } };
      expect((await ask(geminiModel('g', options))).last.finishReason).toBe('stop');
      fake.handler = () => ({ body: sse(chunk([], reason)) });
      const { last } = await ask(geminiModel('g', options));
      expect(last).toMatchObject({ errorCode: reason.toLowerCase(), retryable: true });
    },
  );

  test('MISSING_THOUGHT_SIGNATURE is not', async () => {
    const { last } = await ask(at(chunk([], 'MISSING_THOUGHT_SIGNATURE')));
    expect(last).toMatchObject({ errorCode: 'missing_thought_signature', retryable: false });
  });

  test.each(['SAFETY', 'RECITATION', 'PROHIBITED_CONTENT', 'SPII', 'BLOCKLIST'])('%s', async (reason) => {
    const { last } = await ask(at(chunk([{ text: 'I' }]), chunk([], reason)));
    expect(last).toMatchObject({ finishReason: 'safety', content: { parts: [{ text: 'I' }] } });
  });

  test('S3-71 a blocked prompt', async () => {
    const { last } = await ask(at({ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } }));
    expect(last.finishReason).toBe('safety');
    expect(last.content?.parts).toEqual([{ type: 'refusal', text: 'the prompt was blocked: PROHIBITED_CONTENT' }]);
  });

  test.each([
    ['a data event', sse({ error: { code: 503, message: 'overloaded', status: 'UNAVAILABLE' } })],
    [
      'JSON without data:',
      JSON.stringify({ error: { code: 503, message: 'overloaded', status: 'UNAVAILABLE' } }, undefined, 2),
    ],
    ['a JSON list without data:', JSON.stringify([{ error: { code: 503, message: 'overloaded' } }], undefined, 2)],
  ])('F5 %s inside a 200', async (_what, tail) => {
    const bytes = new TextEncoder().encode(sse(chunk([{ text: 'Par' }])) + tail);
    for (const pieces of [[bytes], [bytes.slice(0, -9), bytes.slice(-9)]]) {
      const m = geminiModel('g', { apiKey: 'AIza0123456789', fetch: fetchOf(pieces), retry: { retries: 0 } });
      const { last, text } = await ask(m);
      expect(text).toBe('Par');
      expect(last).toMatchObject({ errorCode: 'http_503', retryable: true });
      expect(last.errorMessage).toContain('overloaded');
    }
  });

  test('usage: the last value wins; thoughts count as output', async () => {
    const usage = (candidatesTokenCount: number) => ({
      usageMetadata: {
        promptTokenCount: 10,
        candidatesTokenCount,
        thoughtsTokenCount: 5,
        cachedContentTokenCount: 8,
        totalTokenCount: 1,
      },
    });
    const { last } = await ask(at(chunk([{ text: 'a' }], undefined, usage(1)), chunk([], 'STOP', usage(3))));
    expect(last.usage).toEqual({ inputTokens: 10, outputTokens: 8, thoughtTokens: 5, cachedReadTokens: 8 });
  });
});

describe('requests', () => {
  test('S0-60 S0-61 path, key, instruction, declarations, settings, media', async () => {
    await using served3 = await served(chunk([{ text: 'ok' }], 'STOP'));
    const { fake } = served3;
    const m = geminiModel('gemini-2.5-flash', { apiKey: 'AIza0123456789', baseUrl: `${fake.url}/v1` });
    const media: ContentPart = { type: 'media', mimeType: 'image/png', data: 'iVBO' };
    const file: ContentPart = { type: 'media', mimeType: 'video/mp4', uri: 'https://x/v.mp4' };
    const config = {
      temperature: 0.5,
      max_tokens: 9,
      thinkingConfig: { includeThoughts: true },
      toolChoice: { name: 'f' },
    };
    await ask(m, { contents: [user('see', media, file)], tools, systemInstruction: 'sys', config });
    expect(fake.requests[0]?.path).toBe('/v1/models/gemini-2.5-flash:streamGenerateContent?alt=sse');
    expect(fake.requests[0]?.headers['x-goog-api-key']).toBe('AIza0123456789');
    expect(fake.requests[0]?.body).toMatchObject({
      contents: [
        {
          role: 'user',
          parts: [
            { text: 'see' },
            { inlineData: { mimeType: 'image/png', data: 'iVBO' } },
            { fileData: { mimeType: 'video/mp4', fileUri: 'https://x/v.mp4' } },
          ],
        },
      ],
      systemInstruction: { parts: [{ text: 'sys' }] },
      generationConfig: { temperature: 0.5, maxOutputTokens: 9, thinkingConfig: { includeThoughts: true } },
      toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['f'] } },
    });
    expect(fake.requests[0]?.body.tools).toEqual([
      {
        functionDeclarations: [
          { name: 'f', description: 'does f', parameters: { type: 'OBJECT', properties: { x: { type: 'INTEGER' } } } },
          { name: 'g', description: 'does g' },
        ],
      },
    ]);
  });

  describe('IOP-M2 an output schema beside tools', () => {
    const outputSchema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
    const asked = async (name: string, systemInstruction: string, offered = tools) => {
      await using fake = await FakeProvider.start(() => ({ body: sse(chunk([{ text: '{"a":"b"}' }], 'STOP')) }));
      const m = geminiModel(name, { apiKey: 'AIza0123456789', baseUrl: fake.url });
      await ask(m, { tools: offered, outputSchema, systemInstruction });
      const { systemInstruction: told, generationConfig } = (fake.requests[0]?.body ?? {}) as {
        systemInstruction?: { parts: { text: string }[] };
        generationConfig?: object;
      };
      return { told: told?.parts[0]?.text ?? '', format: generationConfig };
    };

    test.each(['', 'You are kind.'])('is told in words to a model that refuses both, after %j', async (own) => {
      const { told, format } = await asked('gemini-2.5-pro', own);
      expect(told.startsWith(own)).toBe(true);
      expect(told).toContain(JSON.stringify(outputSchema));
      expect(format ?? {}).toEqual({});
    });

    test('is the format of the answer where the model takes both, or there is no tool', async () => {
      const format = { responseMimeType: 'application/json', responseJsonSchema: outputSchema };
      expect(await asked('gemini-3-pro', 'S')).toEqual({ told: 'S', format });
      expect(await asked('gemini-2.5-pro', 'S', new Map())).toEqual({ told: 'S', format });
    });
  });

  test('F18 results that are no objects are wrapped, here only, and objects are not wrapped again', async () => {
    await using served3 = await served(chunk([{ text: 'ok' }], 'STOP'));
    const { fake, m } = served3;
    const responses = [{ content: [1, 2] }, { content: 'x' }, { content: 5 }, { content: null }, { a: 1 }, [1, 2]];
    const contents = [
      user('hi'),
      model(...responses.map((_response, n) => call(`c${n}`, 'f'))),
      user(...responses.map((response, n) => result(`c${n}`, 'f', response as Record<string, unknown>))),
    ];
    await ask(m, { tools, contents });
    const sent = contentsOf(fake)[2]?.parts.map(
      (part) => (part as { functionResponse: { response: unknown } }).functionResponse.response,
    );
    expect(sent).toEqual([...responses.slice(0, -1), { content: [1, 2] }]);
  });

  test('a picture goes back with the signature that it came with, and without one where it had none', async () => {
    const inlineData = { mimeType: 'image/png', data: 'iVBO' };
    const sent = [{ inlineData, thoughtSignature: 's' }, { inlineData }];
    await using served3 = await served(chunk(sent, 'STOP'));
    const { fake, m } = served3;
    const { last } = await ask(m);
    expect(last.content?.parts[1]).toEqual({ type: 'media', mimeType: 'image/png', data: 'iVBO' });
    await ask(m, { contents: [user('hi'), ...stored(last), user('so')] });
    expect(contentsOf(fake)[1]?.parts).toEqual(sent);
  });

  test('a part of a kind that is not known is said to be none of those that are', async () => {
    const { last } = await ask(at(chunk([{ text: 'see' }, { somethingNew: { of: 'theirs' } }], 'STOP')));
    expect(last.content?.parts.map(({ type }) => type)).toEqual(['text', '_provider']);
  });

  test('pictures and code in an answer', async () => {
    await using served3 = await served(
      chunk(
        [
          { inlineData: { mimeType: 'image/png', data: 'iVBO' } },
          { executableCode: { language: 'PYTHON', code: 'print(1)' } },
          { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
        ],
        'STOP',
      ),
    );
    const { fake, m } = served3;
    const { last } = await ask(m);
    expect(last.content?.parts).toMatchObject([
      { type: 'media', mimeType: 'image/png', data: 'iVBO' },
      { type: 'code', language: 'python', code: 'print(1)' },
      { type: 'code_result', output: '1' },
    ]);
    await ask(m, { contents: [user('hi'), ...stored(last), user('so')] });
    expect(contentsOf(fake)[1]?.parts).toEqual([
      { inlineData: { mimeType: 'image/png', data: 'iVBO' } },
      { executableCode: { language: 'PYTHON', code: 'print(1)' } },
      { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
    ]);
  });
});
