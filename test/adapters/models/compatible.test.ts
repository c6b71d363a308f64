import { describe, expect, test } from 'vitest';
import { geminiModel, openaiChatModel } from '../../../src/adapters/models/index.ts';
import { ask, call, fetchOf, model, named, result, sse, tool, user } from './kit.ts';
import { anthropic, openaiChat } from './providers.ts';
import { FakeProvider } from './server.ts';

const bytes = (text: string) => fetchOf([new TextEncoder().encode(text)]);
const at = (text: string) => openaiChat.model('http://fake.invalid', { fetch: bytes(text), retry: { retries: 0 } });
const tools = new Map([tool('look', { s: { type: 'number' } })]);
const piece = (args: string, more: object = {}) => ({
  choices: [
    { index: 0, delta: { tool_calls: [{ index: 0, id: 'a', function: { name: 'look', arguments: args } }] }, ...more },
  ],
});
const finished = { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] };

describe('CASE-F5 arguments that come with something before them', () => {
  test.each<[string, string[], unknown]>([
    ['an empty object as a placeholder', ['{}', '{"s":1}'], { s: 1 }],
    ['a placeholder, and the object in pieces', ['{}', '{"s"', ':1}'], { s: 1 }],
    ['a placeholder with blanks', [' { }\n', '{"s":1}'], { s: 1 }],
    ['the whole object twice', ['{"s":1}', '{"s":1}'], { s: 1 }],
    ['nothing else', ['{}'], {}],
    ['an object that holds an empty one', ['{"a":{}', ',"s":1}'], { a: {}, s: 1 }],
  ])('%s', async (_title, pieces, args) => {
    const { last } = await ask(at(sse(...pieces.map((text) => piece(text)), finished, '[DONE]')), { tools });
    expect(last.content?.parts).toMatchObject([{ type: 'function_call', args }]);
    expect(last.finishReason).toBe('tool_calls');
  });

  test('two objects that differ are no arguments, and stay what they are', async () => {
    const { last } = await ask(at(sse(piece('{"s":1}'), piece('{"s":2}'), finished, '[DONE]')), { tools });
    expect(last.content?.parts).toMatchObject([{ args: '{"s":1}{"s":2}' }]);
  });

  test('a placeholder before what was cut is cut', async () => {
    const { last } = await ask(at(sse(piece('{}'), piece('{"s":'), finished, '[DONE]')), { tools });
    expect(last.finishReason).toBe('length');
  });

  test('of Messages, too', async () => {
    const delta = (partial_json: string) =>
      ({ type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json } }) as never;
    const block = { type: 'tool_use', id: 't', name: 'look', input: {} };
    const text = named(
      { type: 'message_start', message: { model: 'm', usage: {} } } as never,
      { type: 'content_block_start', index: 0, content_block: block } as never,
      delta('{}'),
      delta('{"s":1}'),
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: {} } as never,
      { type: 'message_stop' },
    );
    const { last } = await ask(anthropic.model('http://fake.invalid', { fetch: bytes(text) }), { tools });
    expect(last.content?.parts).toMatchObject([{ args: { s: 1 } }]);
  });
});

describe('CASE-P3 counts that come in pieces', () => {
  const said = (finish: string | null, usage: object) => ({
    choices: [{ index: 0, delta: { content: 'a' }, finish_reason: finish }],
    usage,
  });
  test.each<[object, object, object]>([
    [{ prompt_tokens: 10, completion_tokens: 5 }, {}, { inputTokens: 10, outputTokens: 5 }],
    [{ prompt_tokens: 10 }, { completion_tokens: 5 }, { inputTokens: 10, outputTokens: 5 }],
    [
      { prompt_tokens: 10, completion_tokens: 5 },
      { prompt_tokens: 0, completion_tokens: 0 },
      { inputTokens: 10, outputTokens: 5 },
    ],
    [{ prompt_tokens: 10, completion_tokens: 1 }, { completion_tokens: 7 }, { inputTokens: 10, outputTokens: 7 }],
    [{ prompt_tokens: 10 }, { prompt_tokens: null }, { inputTokens: 10 }],
  ])('Chat: %j, then %j', async (first, second, usage) => {
    expect((await ask(at(sse(said(null, first), said('stop', second))))).last.usage).toEqual(usage);
  });

  test('generateContent', async () => {
    const candidates = (finishReason?: string) => [{ content: { parts: [{ text: 'a' }] }, finishReason }];
    const body = sse(
      {
        candidates: candidates(),
        usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, thoughtsTokenCount: 2 },
      },
      { candidates: candidates('STOP'), usageMetadata: { promptTokenCount: 10 } },
    );
    const { last } = await ask(geminiModel('g', { baseUrl: 'http://fake.invalid', fetch: bytes(body) }));
    expect(last.usage).toEqual({ inputTokens: 10, outputTokens: 7, thoughtTokens: 2 });
  });
});

describe('HUNT-P2 thoughts among the pieces of the content', () => {
  const thinking = (text: string) => ({ type: 'thinking', thinking: [{ type: 'text', text }] });
  const delta = (content: unknown, finish_reason: string | null = null) => ({
    choices: [{ index: 0, delta: { content }, finish_reason }],
  });
  const body = sse(delta([thinking('h')]), delta([thinking('m'), { type: 'text', text: 'an' }]), delta('swer', 'stop'));

  test('are shown, kept, and go back where they stood', async () => {
    await using fake = await FakeProvider.start(() => ({ body }));
    const mistral = openaiChatModel('magistral', { baseUrl: `${fake.url}/v1`, provider: 'openai' });
    const { last, text, thought } = await ask(mistral);
    expect([thought, text]).toEqual(['hm', 'answer']);
    expect(last.content?.parts).toMatchObject([
      { type: 'thought', thought: 'hm' },
      { type: 'text', text: 'answer' },
    ]);
    await ask(mistral, { contents: [user('hi'), last.content as never, user('more')] });
    const messages = fake.requests[1]?.body.messages as { role: string; content: unknown }[];
    expect(messages[1]).toEqual({ role: 'assistant', content: [thinking('hm'), { type: 'text', text: 'answer' }] });
  });

  test('as plain text, too', async () => {
    const { thought } = await ask(at(sse(delta([{ type: 'thinking', thinking: 'hm' }]), delta('a', 'stop'))));
    expect(thought).toBe('hm');
  });
});

test.each([
  ['429', 'http_429', true],
  ['503', 'http_503', true],
  ['400', 'http_400', false],
  ['rate_limit_exceeded', 'rate_limit_exceeded', true],
  ['4290', '4290', false],
])('HUNT-P7 an error whose code is the text %s', async (code, errorCode, retryable) => {
  const { last } = await ask(at(sse({ error: { code, message: 'no' } })));
  expect(last).toMatchObject({ errorCode, retryable });
});

describe('CASE-P1 an id that is used again in a later answer', () => {
  const own = (id: string, part: object) => ({ ...part, _meta: { provider: { name: 'openai', id } } });
  const turn = (id: string, ownId: string) => [
    model(own(ownId, call(id, 'look')) as never),
    user(result(id, 'look', { of: id }) as never),
  ];

  test('goes back as two, each with its result', async () => {
    const body = sse({ choices: [{ index: 0, delta: { content: 'ok' }, finish_reason: 'stop' }] });
    await using fake = await FakeProvider.start(() => ({ body }));
    const chat = openaiChatModel('m', { baseUrl: `${fake.url}/v1`, provider: 'openai' });
    const contents = [user('hi'), ...turn('r1', 'call_0'), ...turn('r2', 'call_0'), ...turn('r3', 'call_1')];
    for (const _ of [1, 2]) await ask(chat, { tools, contents });
    type Wire = { role: string; tool_call_id?: string; content?: string; tool_calls?: { id: string }[] };
    const [first, second] = fake.requests.map(({ body: sent }) => sent.messages as Wire[]);
    const ids = first?.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id)) ?? [];
    expect(new Set(ids).size).toBe(3);
    expect([ids[0], ids[2]]).toEqual(['call_0', 'call_1']);
    const results = first?.filter(({ role }) => role === 'tool') ?? [];
    expect(results.map(({ tool_call_id }) => tool_call_id)).toEqual(ids);
    expect(results.map(({ content }) => JSON.parse(content ?? '').of)).toEqual(['r1', 'r2', 'r3']);
    expect(second).toEqual(first);
  });
});
