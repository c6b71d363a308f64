import { describe, expect, test } from 'vitest';
import type { OpenAIChatOptions } from '../../../src/adapters/models/index.ts';
import { openaiChatModel } from '../../../src/adapters/models/index.ts';
import type { ContentPart } from '../../../src/contracts/index.ts';
import { ask, call, fetchOf, model, result, sse, stored, tool, user } from './kit.ts';
import { FakeProvider } from './server.ts';

const tools = new Map([tool('f', { x: { type: 'integer' } }), tool('g')]);
const delta = (content: object, finish_reason?: string) => ({
  choices: [{ index: 0, delta: content, ...(finish_reason ? { finish_reason } : {}) }],
});
const callDelta = (...tool_calls: object[]) => delta({ tool_calls });

function at(text: string, options: OpenAIChatOptions = {}) {
  return openaiChatModel('m', {
    apiKey: 'sk-0123456789',
    baseUrl: 'http://fake.invalid/v1',
    fetch: fetchOf([new TextEncoder().encode(text)]),
    retry: { retries: 0 },
    ...options,
  });
}

async function callsIn(...chunks: (object | string)[]) {
  const { last } = await ask(at(sse(...chunks)), { tools });
  const calls = (last.content?.parts ?? []).flatMap((part) =>
    part.type === 'function_call'
      ? [[part.name, part.args, (part._meta?.provider as { id?: string } | undefined)?.id]]
      : [],
  );
  return { calls, last };
}

const stop = [delta({}, 'tool_calls'), '[DONE]'] as const;
const fn = (name: string, args?: string) => ({
  function: { name, ...(args === undefined ? {} : { arguments: args }) },
});

test('an answer is known by the id that it began with, or by none', async () => {
  const named = (id: string) => ({ id, ...delta({ content: 'a' }) });
  const { last } = await ask(at(sse(named('c-1'), named('c-2'), delta({}, 'stop'), '[DONE]')));
  expect(last.responseId).toBe('c-1');
  const { last: nameless } = await ask(at(sse(delta({ content: 'a' }), delta({}, 'stop'), '[DONE]')));
  expect(Object.keys(nameless)).not.toContain('responseId');
});

describe('F1 tool deltas with missing or wrong places', () => {
  test('no index: a new id is a new call, and a delta with neither goes on with the one being streamed', async () => {
    const { calls } = await callsIn(
      callDelta({ id: 'a', ...fn('f', '{"x":1}') }),
      callDelta({ id: 'b', ...fn('f', '{"x":') }),
      callDelta({ function: { arguments: '2}' } }),
      ...stop,
    );
    expect(calls).toEqual([
      ['f', { x: 1 }, 'a'],
      ['f', { x: 2 }, 'b'],
    ]);
  });

  test('every index 0: ids tell the calls apart', async () => {
    const { calls } = await callsIn(
      callDelta({ index: 0, id: 'a', ...fn('f', '') }),
      callDelta({ index: 0, function: { arguments: '{"x":1}' } }),
      callDelta({ index: 0, id: 'b', ...fn('g', '') }),
      callDelta({ index: 0, function: { arguments: '{}' } }),
      ...stop,
    );
    expect(calls).toEqual([
      ['f', { x: 1 }, 'a'],
      ['g', {}, 'b'],
    ]);
  });

  test('interleaved by index', async () => {
    const { calls } = await callsIn(
      callDelta({ index: 0, id: 'a', ...fn('f', '{"x"') }, { index: 1, id: 'b', ...fn('f', '{"x"') }),
      callDelta({ index: 1, function: { arguments: ':2}' } }),
      callDelta({ index: 0, function: { arguments: ':1}' } }),
      ...stop,
    );
    expect(calls).toEqual([
      ['f', { x: 1 }, 'a'],
      ['f', { x: 2 }, 'b'],
    ]);
  });

  test.each([
    ['the id and name on every delta', { id: 'a', ...fn('f', '1}') }],
    ['an empty id', { index: 0, id: '', function: { arguments: '1}' } }],
    ['a fresh id without a name', { index: 0, id: 'zz', function: { arguments: '1}' } }],
    ['an index that was never opened', { index: 7, function: { arguments: '1}' } }],
    ['null in place of what is missing', { index: null, id: null, function: { name: null, arguments: '1}' } }],
    ['the name again, without id or index', fn('f', '1}')],
  ])('%s: still one call', async (_what, second) => {
    const { calls } = await callsIn(callDelta({ index: 0, id: 'a', ...fn('f', '{"x":') }), callDelta(second), ...stop);
    expect(calls).toEqual([['f', { x: 1 }, 'a']]);
  });

  test('neither ids nor indexes at all: names begin calls', async () => {
    const whole = await callsIn(callDelta(fn('f', '{"x":1}')), callDelta(fn('f', '{"x":2}')), ...stop);
    expect(whole.calls.map(([, args]) => args)).toEqual([{ x: 1 }, { x: 2 }]);
    const atOnce = await callsIn(callDelta(fn('f', '{"x":1}'), fn('g')), ...stop);
    expect(atOnce.calls).toEqual([
      ['f', { x: 1 }, undefined],
      ['g', {}, undefined],
    ]);
  });

  test('a new id is a new call also where its name comes later', async () => {
    const { calls } = await callsIn(
      callDelta({ id: 'a', ...fn('f', '{"x":1}') }),
      callDelta({ id: 'b' }),
      callDelta(fn('g', '{}')),
      ...stop,
    );
    expect(calls).toEqual([
      ['f', { x: 1 }, 'a'],
      ['g', {}, 'b'],
    ]);
  });

  test('a missing index is not 0', async () => {
    const { calls } = await callsIn(
      callDelta({ id: 'a', ...fn('f', '{"x":1}') }),
      callDelta({ index: 0, ...fn('g', '{}') }),
      ...stop,
    );
    expect(calls).toEqual([
      ['f', { x: 1 }, 'a'],
      ['g', {}, undefined],
    ]);
  });

  test('arguments as an object, where a server sends that', async () => {
    const { calls } = await callsIn(callDelta({ id: 'a', function: { name: 'f', arguments: { x: 3 } } }), ...stop);
    expect(calls).toEqual([['f', { x: 3 }, 'a']]);
  });
});

describe('F3 F8 arguments', () => {
  test.each([undefined, '', '  ', 'null'])('%j is an empty object', async (args) => {
    const { calls, last } = await callsIn(callDelta({ id: 'a', ...fn('g', args) }), ...stop);
    expect(calls).toEqual([['g', {}, 'a']]);
    expect(last.finishReason).toBe('tool_calls');
  });

  test.each(['{"path":"a', '{"a":[1,', '{', '{"a":"\\'])('%j is cut, whatever the finish reason', async (args) => {
    const { last } = await callsIn(callDelta({ id: 'a', ...fn('f', args) }), ...stop);
    expect(last.finishReason).toBe('length');
  });

  test('JSON that is complete but wrong reaches the check of arguments as text', async () => {
    const { last, calls } = await callsIn(callDelta({ id: 'a', ...fn('f', '{x:1}') }), ...stop);
    expect(last.finishReason).toBe('tool_calls');
    expect(calls).toEqual([['f', '{x:1}', 'a']]);
  });

  test('finish "length" says length, though the arguments are whole', async () => {
    const { last } = await callsIn(callDelta({ id: 'a', ...fn('f', '{"x":1}') }), delta({}, 'length'), '[DONE]');
    expect(last.finishReason).toBe('length');
  });
});

test('MUT-A8 of several choices only the first is the answer', async () => {
  const choice = (index: number, content: object, finish_reason?: string) => ({
    choices: [{ ...delta(content, finish_reason).choices[0], index }],
  });
  const { text, last } = await ask(
    at(
      sse(
        choice(0, { content: 'a' }),
        choice(1, { content: 'b' }),
        choice(0, { content: 'c' }),
        choice(1, { tool_calls: [{ index: 0, id: 'x', ...fn('f', '{}') }] }),
        choice(0, {}, 'stop'),
        choice(1, {}, 'tool_calls'),
        '[DONE]',
      ),
    ),
    { tools },
  );
  expect([text, last.finishReason, last.content?.parts]).toEqual(['ac', 'stop', [{ type: 'text', text: 'ac' }]]);
});

describe('F4 reasoning goes back as it came', () => {
  const answers = (fake: FakeProvider, ...chunks: object[]) => {
    fake.handler = () => ({ body: sse(...chunks, '[DONE]') });
  };
  const assistants = (fake: FakeProvider) =>
    ((fake.requests.at(-1)?.body.messages ?? []) as Record<string, unknown>[]).filter(
      ({ role }) => role === 'assistant',
    );

  test('with the tool results, verbatim', async () => {
    await using fake = await FakeProvider.start();
    const m = openaiChatModel('m', { baseUrl: fake.url });
    const reasoning = ' r\n"é"  ';
    answers(fake, delta({ reasoning_content: reasoning }), callDelta({ id: 'a', ...fn('g') }), delta({}, 'tool_calls'));
    const { last } = await ask(m, { tools });
    answers(fake, delta({ content: 'ok' }, 'stop'));
    await ask(m, { tools, contents: [user('hi'), ...stored(last)] });
    expect(assistants(fake)).toMatchObject([
      { reasoning_content: reasoning, content: null, tool_calls: [{ id: 'a' }] },
    ]);
  });

  test('the key is there where nothing was thought, if the provider thinks', async () => {
    await using fake = await FakeProvider.start();
    const contents = [user('hi'), model(call('a', 'g')), user(result('a', 'g', {}))];
    answers(fake, delta({ content: 'ok' }, 'stop'));
    await ask(openaiChatModel('deepseek-reasoner', { baseUrl: fake.url }), { tools, contents });
    expect(assistants(fake)).toMatchObject([{ reasoning_content: '' }]);
    await ask(openaiChatModel('m', { baseUrl: fake.url, replayReasoning: 'always' }), { tools, contents });
    expect(assistants(fake)).toMatchObject([{ reasoning_content: '' }]);
  });

  test('and is not there for those who do not want it, or did not say it', async () => {
    await using fake = await FakeProvider.start();
    const thought: ContentPart = {
      type: 'thought',
      thought: 'theirs',
      _meta: { provider: { name: 'other', opaque: { field: 'reasoning_content' } } },
    };
    answers(fake, delta({ content: 'ok' }, 'stop'));
    await ask(openaiChatModel('m', { baseUrl: fake.url }), {
      contents: [user('hi'), model(thought, 'yes'), user('so')],
    });
    expect(assistants(fake)).toEqual([{ role: 'assistant', content: 'yes' }]);
  });

  test('reasoning_details and extra members of calls go back too', async () => {
    await using fake = await FakeProvider.start();
    const m = openaiChatModel('m', { baseUrl: fake.url });
    const extra_content = { google: { thought_signature: 'c2ln+/=' } };
    answers(
      fake,
      delta({ reasoning: 'Hm', reasoning_details: [{ type: 'reasoning.encrypted', data: 'x' }] }),
      callDelta({ id: 'a', ...fn('g'), extra_content }, { id: 'b', ...fn('g') }),
      delta({}, 'tool_calls'),
    );
    const { last } = await ask(m, { tools });
    answers(fake, delta({ content: 'ok' }, 'stop'));
    await ask(m, { tools, contents: [user('hi'), ...stored(last)] });
    const [assistant] = assistants(fake);
    expect(assistant).toMatchObject({ reasoning: 'Hm', reasoning_details: [{ data: 'x' }] });
    const [first, second] = (assistant?.tool_calls ?? []) as object[];
    expect(first).toMatchObject({ extra_content });
    expect(second).not.toHaveProperty('extra_content');
  });
});

describe('F5 errors inside a 200', () => {
  const partial = sse(delta({ content: 'Par' }));
  test.each([
    ['a data event', sse({ error: { message: 'Overloaded', type: 'server_error', code: 503 } }), 'http_503', true],
    [
      'an error event',
      `event: error\ndata: {"error":{"message":"no","type":"rate_limit_error"}}\n\n`,
      'rate_limit_error',
      true,
    ],
    ['JSON without data:', '{"error":{"message":"broke","code":"invalid_prompt"}}', 'invalid_prompt', false],
    [
      'pretty-printed JSON without data:',
      `${JSON.stringify({ error: { message: 'b', code: 500 } }, undefined, 2)}\n`,
      'http_500',
      true,
    ],
    [
      'a choice that failed',
      sse({ choices: [{ index: 0, delta: {}, finish_reason: 'error', error: { code: 502, message: 'x' } }] }),
      'http_502',
      true,
    ],
  ])('%s', async (_what, tail, errorCode, retryable) => {
    const { frames, last, text } = await ask(at(partial + tail));
    expect(text).toBe('Par');
    expect(last).toMatchObject({ errorCode, retryable });
    expect(frames).toHaveLength(2);
  });

  test('the whole answer of a call without streaming is an error', async () => {
    const body = JSON.stringify({ error: { message: 'quota', code: 429 } });
    const fetch = fetchOf([new TextEncoder().encode(body)], 'application/json');
    const { last } = await ask(at('', { fetch }), {}, { stream: false });
    expect(last).toMatchObject({ errorCode: 'http_429', retryable: true });
  });

  test('money that is used up is not worth another try', async () => {
    const error = {
      message: 'You exceeded your current quota',
      type: 'insufficient_quota',
      code: 'insufficient_quota',
    };
    await using fake = await FakeProvider.start(() => ({ status: 429, body: { error } }));
    const { last } = await ask(openaiChatModel('m', { baseUrl: fake.url, retry: { sleep: async () => {} } }));
    expect(last).toMatchObject({ errorCode: 'http_429', retryable: false });
    expect(fake.requests).toHaveLength(1);
  });

  test('a chunk that is no JSON', async () => {
    const { last } = await ask(at(`${partial}data: {"choices":[{\n\n`));
    expect(last).toMatchObject({ retryable: true });
    expect(last.errorCode).toBeDefined();
  });
});

describe('ends', () => {
  test('no finish reason, but the end is marked: an answer', async () => {
    const { last } = await ask(at(sse(delta({ content: 'Hi' }), '[DONE]')));
    expect(last).toMatchObject({ finishReason: 'stop', content: { parts: [{ text: 'Hi' }] } });
  });

  test('neither: the stream was cut', async () => {
    const { last } = await ask(at(sse(delta({ content: 'Hi' }))));
    expect(last).toMatchObject({ errorCode: 'stream_ended', retryable: true });
  });

  test('"stop" after calls', async () => {
    const { last } = await callsIn(callDelta({ id: 'a', ...fn('g') }), delta({}, 'stop'), '[DONE]');
    expect(last.finishReason).toBe('tool_calls');
  });

  test('content_filter', async () => {
    const { last } = await ask(at(sse(delta({ content: 'Hi' }, 'content_filter'), '[DONE]')));
    expect(last.finishReason).toBe('safety');
  });

  test('a server that does not stream though it was asked to', async () => {
    const whole = { choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }] };
    const { last } = await ask(at(JSON.stringify(whole)));
    expect(last).toMatchObject({ finishReason: 'stop', content: { parts: [{ text: 'Hi' }] } });
  });
});

describe('usage: the last value wins, early, late or repeated', () => {
  const usage = (prompt_tokens: number, completion_tokens: number, more: object = {}) => ({
    usage: { prompt_tokens, completion_tokens, ...more },
  });
  test.each([
    ['early', [usage(5, 0), delta({ content: 'a' }, 'stop')], { inputTokens: 5, outputTokens: 0 }],
    ['late', [delta({ content: 'a' }, 'stop'), { choices: [], ...usage(5, 2) }], { inputTokens: 5, outputTokens: 2 }],
    [
      'repeated',
      [usage(5, 1), delta({ content: 'a' }, 'stop'), usage(5, 2), usage(5, 3)],
      { inputTokens: 5, outputTokens: 3 },
    ],
    ['null', [{ ...delta({ content: 'a' }, 'stop'), usage: null }], undefined],
    [
      'in detail',
      [
        delta({ content: 'a' }, 'stop'),
        usage(9, 8, {
          prompt_tokens_details: { cached_tokens: 4 },
          completion_tokens_details: { reasoning_tokens: 3 },
        }),
      ],
      { inputTokens: 9, outputTokens: 8, cachedReadTokens: 4, thoughtTokens: 3 },
    ],
  ])('%s', async (_what, chunks, expected) => {
    const { last } = await ask(at(sse(...chunks, '[DONE]')));
    expect(last.usage).toEqual(expected);
  });
});

describe('requests', () => {
  const ok = () => ({ body: sse(delta({ content: 'ok' }, 'stop'), '[DONE]') });
  test('S0-63 S0-64 any base URL; system first; tools, calls and results in their places', async () => {
    await using fake = await FakeProvider.start(ok);
    const m = openaiChatModel('meta/llama-3', {
      apiKey: 'sk-0123456789',
      baseUrl: `${fake.url}/proxy/v1`,
      headers: { 'x-org': 'me' },
    });
    const contents = [user('hi'), model('so', call('a', 'f', { x: 1 })), user(result('a', 'f', { content: 'one' }))];
    await ask(m, {
      tools,
      contents,
      systemInstruction: 'sys',
      config: { maxOutputTokens: 5, top_p: 0.5, logit_bias: { 1: 2 } },
    });
    expect(fake.requests[0]).toMatchObject({
      path: '/proxy/v1/chat/completions',
      headers: { authorization: 'Bearer sk-0123456789', 'x-org': 'me' },
    });
    expect(fake.requests[0]?.body).toEqual({
      model: 'meta/llama-3',
      messages: [
        { role: 'system', content: 'sys' },
        { role: 'user', content: 'hi' },
        {
          role: 'assistant',
          content: 'so',
          tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' } }],
        },
        { role: 'tool', tool_call_id: 'a', content: 'one' },
      ],
      top_p: 0.5,
      max_tokens: 5,
      logit_bias: { 1: 2 },
      tools: [
        {
          type: 'function',
          function: {
            name: 'f',
            description: 'does f',
            parameters: { type: 'object', properties: { x: { type: 'integer' } } },
          },
        },
        {
          type: 'function',
          function: { name: 'g', description: 'does g', parameters: { type: 'object', properties: {} } },
        },
      ],
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  test('without a key none is sent', async () => {
    await using fake = await FakeProvider.start(ok);
    await ask(openaiChatModel('m', { baseUrl: fake.url }));
    expect(fake.requests[0]?.headers.authorization).toBeUndefined();
  });

  test('F12 strict tools: what was optional comes back without the nulls that strictness made', async () => {
    const schema = { type: 'object', properties: { a: { type: 'string' }, b: { type: 'number' } }, required: ['a'] };
    const strict = new Map([['s', { name: 's', description: '', inputSchema: schema }]]);
    await using fake = await FakeProvider.start(() => ({
      body: sse(callDelta({ id: 'a', ...fn('s', '{"a":"x","b":null}') }), delta({}, 'tool_calls'), '[DONE]'),
    }));
    const { last } = await ask(openaiChatModel('m', { baseUrl: fake.url, strictTools: true }), { tools: strict });
    expect(last.content?.parts).toMatchObject([{ args: { a: 'x' } }]);
    expect(fake.requests[0]?.body.tools).toMatchObject([
      { function: { strict: true, parameters: { required: ['a', 'b'], additionalProperties: false } } },
    ]);
  });

  test('an output schema and a choice of tools', async () => {
    await using fake = await FakeProvider.start(ok);
    const outputSchema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
    await ask(openaiChatModel('m', { baseUrl: fake.url }), {
      tools,
      outputSchema,
      config: { toolChoice: { name: 'g' } },
    });
    expect(fake.requests[0]?.body).toMatchObject({
      response_format: { type: 'json_schema', json_schema: { strict: true, schema: { additionalProperties: false } } },
      tool_choice: { type: 'function', function: { name: 'g' } },
    });
  });
});
