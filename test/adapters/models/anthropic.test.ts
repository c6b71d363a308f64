import { describe, expect, test } from 'vitest';
import { anthropicModel } from '../../../src/adapters/models/index.ts';
import type { ContentPart } from '../../../src/contracts/index.ts';
import { ask, call, fetchOf, model, named, result, stored, tool, user } from './kit.ts';
import { FakeProvider } from './server.ts';

const tools = new Map([tool('f', { x: { type: 'integer' } }), tool('g')]);
const start = (usage: object = { input_tokens: 1, output_tokens: 1 }) => ({
  type: 'message_start',
  message: { type: 'message', id: 'm', role: 'assistant', model: 'claude', content: [], stop_reason: null, usage },
});
const begin = (index: number, content_block: object) => ({ type: 'content_block_start', index, content_block });
const delta = (index: number, piece: object) => ({ type: 'content_block_delta', index, delta: piece });
const end = (stop_reason: string, more: object = {}) => [
  { type: 'message_delta', delta: { stop_reason, ...more }, usage: { output_tokens: 9 } },
  { type: 'message_stop' },
];
const text = (index: number, words: string) => [
  begin(index, { type: 'text', text: '' }),
  delta(index, { type: 'text_delta', text: words }),
  { type: 'content_block_stop', index },
];
const bodyOf = (...events: object[]) => named(...(events as { type: string }[]));
const at = (body: string) =>
  anthropicModel('claude', {
    apiKey: 'sk-0123456789',
    fetch: fetchOf([new TextEncoder().encode(body)]),
    retry: { retries: 0 },
  });

describe('F3 input of calls', () => {
  test.each([
    ['one blank piece', [{ type: 'input_json_delta', partial_json: '' }], {}],
    ['white space', [{ type: 'input_json_delta', partial_json: '  ' }], {}],
    ['no piece', [], {}],
    ['pieces', ['{"x', '":1}'].map((partial_json) => ({ type: 'input_json_delta', partial_json })), { x: 1 }],
  ])('%s', async (_what, pieces, args) => {
    const block = { type: 'tool_use', id: 't', name: 'f', input: {} };
    const events = [start(), begin(0, block), ...pieces.map((piece) => delta(0, piece)), ...end('tool_use')];
    const { last } = await ask(at(bodyOf(...events)), { tools });
    expect(last).toMatchObject({ finishReason: 'tool_calls', content: { parts: [{ name: 'f', args }] } });
  });

  test('whole, with the start of the block', async () => {
    const block = { type: 'tool_use', id: 't', name: 'f', input: { x: 2 } };
    const { last } = await ask(at(bodyOf(start(), begin(0, block), ...end('tool_use'))), { tools });
    expect(last.content?.parts).toMatchObject([{ args: { x: 2 } }]);
  });

  test('F8 cut in the middle: nothing of it may run', async () => {
    const block = { type: 'tool_use', id: 't', name: 'f', input: {} };
    const piece = delta(0, { type: 'input_json_delta', partial_json: '{"x":' });
    for (const reason of ['max_tokens', 'tool_use']) {
      const { last } = await ask(at(bodyOf(start(), begin(0, block), piece, ...end(reason))), { tools });
      expect(last.finishReason).toBe('length');
    }
  });

  test('every index 0: a delta belongs to the newest block', async () => {
    const use = (id: string) => begin(0, { type: 'tool_use', id, name: 'f', input: {} });
    const piece = (partial_json: string) => delta(0, { type: 'input_json_delta', partial_json });
    const events = [start(), use('a'), piece('{"x":1}'), use('b'), piece('{"x":2}'), ...end('tool_use')];
    const { last } = await ask(at(bodyOf(...events)), { tools });
    expect(last.content?.parts).toMatchObject([{ args: { x: 1 } }, { args: { x: 2 } }]);
  });
});

describe('F7 thinking', () => {
  const thinking = [
    begin(0, { type: 'thinking', thinking: '', signature: '' }),
    delta(0, { type: 'signature_delta', signature: 'si' }),
    delta(0, { type: 'signature_delta', signature: 'g+/=' }),
    begin(1, { type: 'redacted_thinking', data: 'EmwK+/=' }),
    begin(2, { type: 'tool_use', id: 't1', name: 'f', input: {} }),
    delta(2, { type: 'input_json_delta', partial_json: '{"x":1}' }),
    begin(3, { type: 'thinking', thinking: '', signature: '' }),
    delta(3, { type: 'thinking_delta', thinking: 'And' }),
    delta(3, { type: 'signature_delta', signature: 's2' }),
    begin(4, { type: 'tool_use', id: 't2', name: 'g', input: {} }),
  ];

  test('blank and redacted blocks go back unchanged and in their places, and are not shown', async () => {
    await using fake = await FakeProvider.start(() => ({ body: bodyOf(start(), ...thinking, ...end('tool_use')) }));
    const m = anthropicModel('claude', { apiKey: 'sk-0123456789', baseUrl: fake.url });
    const { last, frames } = await ask(m, { tools });
    expect(frames.filter((frame) => frame.partial)).toHaveLength(1);
    await ask(m, { tools, contents: [user('hi'), ...stored(last)] });
    const messages = fake.requests[1]?.body.messages as { content: unknown }[];
    expect(messages[1]?.content).toEqual([
      { type: 'thinking', thinking: '', signature: 'sig+/=' },
      { type: 'redacted_thinking', data: 'EmwK+/=' },
      { type: 'tool_use', id: 't1', name: 'f', input: { x: 1 } },
      { type: 'thinking', thinking: 'And', signature: 's2' },
      { type: 'tool_use', id: 't2', name: 'g', input: {} },
    ]);
  });

  test("a round that another model began goes on without thinking; one's own keeps it", async () => {
    await using fake = await FakeProvider.start(() => ({ body: bodyOf(start(), ...thinking, ...end('tool_use')) }));
    const m = anthropicModel('claude', { apiKey: 'sk-0123456789', baseUrl: fake.url });
    const config = { thinking: { type: 'enabled', budget_tokens: 1024 } };
    await ask(m, { tools, config, contents: [user('hi'), model(call('a', 'f')), user(result('a', 'f', {}))] });
    expect(fake.requests[0]?.body.thinking).toBeUndefined();
    const { last } = await ask(m, { tools, config });
    await ask(m, { tools, config, contents: [user('hi'), ...stored(last)] });
    expect(fake.requests.slice(1).map(({ body }) => body.thinking)).toEqual([config.thinking, config.thinking]);
  });
});

describe('pause_turn', () => {
  const search = { type: 'server_tool_use', id: 'srv', name: 'web_search', input: { query: 'q' } };
  const found = { type: 'web_search_tool_result', tool_use_id: 'srv', content: [] };
  const paused = () =>
    bodyOf(
      start({ input_tokens: 10, output_tokens: 1 }),
      ...text(0, 'First. '),
      begin(1, search),
      begin(2, found),
      ...end('pause_turn'),
    );

  test('goes on by itself: one answer, tokens of both calls, server steps kept for the history', async () => {
    const rest = bodyOf(start({ input_tokens: 20, output_tokens: 1 }), ...text(0, 'Second.'), ...end('end_turn'));
    await using fake = await FakeProvider.start((_request, count) => ({ body: count === 1 ? paused() : rest }));
    const m = anthropicModel('claude', { apiKey: 'sk-0123456789', baseUrl: fake.url });
    const { last, text: shown } = await ask(m);
    expect(shown).toBe('First. Second.');
    expect(last).toMatchObject({ finishReason: 'stop', usage: { inputTokens: 30, outputTokens: 18 } });
    const begun = [{ type: 'text', text: 'First. ' }, search, found];
    expect(fake.requests[1]?.body.messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'hi' }] },
      { role: 'assistant', content: begun },
    ]);
    await ask(m, { contents: [user('hi'), ...stored(last), user('more')] });
    const messages = fake.requests[2]?.body.messages as { content: unknown }[];
    expect(messages[1]?.content).toEqual([...begun, { type: 'text', text: 'Second.' }]);
  });

  test('not for ever', async () => {
    await using fake = await FakeProvider.start(() => ({ body: paused() }));
    const { last } = await ask(anthropicModel('claude', { apiKey: 'sk-0123456789', baseUrl: fake.url }));
    expect(last).toMatchObject({ errorCode: 'pause_turn', retryable: true });
    expect(fake.requests.length).toBeLessThan(12);
  });
});

describe('ends and errors', () => {
  test('S3-71 a refusal says why', async () => {
    const stop_details = { type: 'refusal', category: 'cyber', explanation: 'not this' };
    const { last } = await ask(at(bodyOf(start(), ...text(0, 'I'), ...end('refusal', { stop_details }))));
    expect(last).toMatchObject({
      finishReason: 'refusal',
      content: { parts: [{ text: 'I' }, { type: 'refusal', text: 'not this' }] },
    });
  });

  test('F5 overloaded in the middle of a stream', async () => {
    const error = 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n';
    const { last, text: shown } = await ask(at(bodyOf(start(), ...text(0, 'Par')) + error));
    expect(shown).toBe('Par');
    expect(last).toMatchObject({ errorCode: 'overloaded_error', retryable: true });
    expect(last.errorMessage).toContain('Overloaded');
  });

  test('F5 the same without data:', async () => {
    const error = '{"type":"error","error":{"type":"invalid_request_error","message":"no"}}';
    const { last } = await ask(at(bodyOf(start(), ...text(0, 'Par')) + error));
    expect(last).toMatchObject({ errorCode: 'invalid_request_error', retryable: false });
  });

  test('529 is passing', async () => {
    await using fake = await FakeProvider.start((_request, count) =>
      count === 1
        ? { status: 529, body: { type: 'error', error: { type: 'overloaded_error', message: 'x' } } }
        : { body: bodyOf(start(), ...text(0, 'ok'), ...end('end_turn')) },
    );
    const m = anthropicModel('claude', {
      apiKey: 'sk-0123456789',
      baseUrl: fake.url,
      retry: { sleep: async () => {} },
    });
    expect((await ask(m)).last.finishReason).toBe('stop');
  });

  test('usage: what was read from the cache and written to it counts as input; later totals win', async () => {
    const usage = { input_tokens: 3, cache_read_input_tokens: 100, cache_creation_input_tokens: 20, output_tokens: 1 };
    const late = { type: 'message_delta', delta: { stop_reason: null }, usage: { output_tokens: 4, input_tokens: 5 } };
    const { last } = await ask(at(bodyOf(start(usage), ...text(0, 'x'), late, ...end('end_turn'))));
    expect(last.usage).toEqual({ inputTokens: 125, cachedReadTokens: 100, cacheWriteTokens: 20, outputTokens: 9 });
  });

  test('citations stay with their text', async () => {
    const citation = { type: 'char_location', cited_text: 'x', document_index: 0 };
    const cited = [
      begin(0, { type: 'text', text: '' }),
      delta(0, { type: 'citations_delta', citation }),
      delta(0, { type: 'text_delta', text: 'as it says' }),
    ];
    const { last } = await ask(at(bodyOf(start(), ...cited, ...end('end_turn'))));
    expect(last.citationMetadata).toEqual({ citations: [citation] });
    expect(last.content?.parts[0]?._meta).toMatchObject({ provider: { opaque: { citations: [citation] } } });
  });
});

describe('requests', () => {
  test('S0-62 system on top, tool_use and tool_result, results first, errors marked, no blank text', async () => {
    await using fake = await FakeProvider.start(() => ({
      body: bodyOf(start(), ...text(0, 'ok'), ...end('end_turn')),
    }));
    const m = anthropicModel('claude', { apiKey: 'sk-0123456789', baseUrl: fake.url, cache: 'none' });
    const failed: ContentPart = {
      type: 'function_response',
      id: 'b/1',
      name: 'g',
      response: { error: 'no' },
      isError: true,
    };
    const contents = [user('hi', '  '), model(' ', call('b/1', 'g')), user('and', failed)];
    await ask(m, { tools, contents, systemInstruction: 'sys', config: { stop: ['x'], toolChoice: 'required' } });
    expect(fake.requests[0]).toMatchObject({ path: '/v1/messages', headers: { 'x-api-key': 'sk-0123456789' } });
    expect(fake.requests[0]?.body).toMatchObject({
      max_tokens: 8192,
      system: 'sys',
      stop_sequences: ['x'],
      tool_choice: { type: 'any' },
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'hi' }] },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'wsQyT9vuz', name: 'g', input: {} }] },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'wsQyT9vuz', content: '{"error":"no"}', is_error: true },
            { type: 'text', text: 'and' },
          ],
        },
      ],
    });
  });

  test('an output schema, where the API can express it', async () => {
    await using fake = await FakeProvider.start(() => ({
      body: bodyOf(start(), ...text(0, 'ok'), ...end('end_turn')),
    }));
    const m = anthropicModel('claude', { apiKey: 'sk-0123456789', baseUrl: fake.url });
    await ask(m, { outputSchema: { type: 'object', properties: { a: { type: 'string' } } } });
    await ask(m, { outputSchema: { type: 'object', additionalProperties: { type: 'string' } } });
    expect(fake.requests.map(({ body }) => body.output_config)).toMatchObject([
      { format: { type: 'json_schema', schema: { additionalProperties: false } } },
      undefined,
    ]);
  });
});
