import { describe, expect, test } from 'vitest';
import type { ModelUnderTest } from '../../suites/model.ts';
import { everyProvider } from './ai-sdk-providers.ts';
import { ask, fetchOf, named, sse, tool } from './kit.ts';
import { anthropic, gemini, openaiChat, openaiResponses, providers } from './providers.ts';

const bytes = (text: string) => [new TextEncoder().encode(text)];
const tools = new Map([tool('weather', { city: { type: 'string' } })]);
const chunk = (delta: object, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta, finish_reason }],
});

/** What an answer of these bytes comes to. */
async function answer(under: ModelUnderTest, text: string, options: { stream?: boolean; type?: string } = {}) {
  const { stream = true, type = stream ? 'text/event-stream' : 'application/json' } = options;
  const fetch = fetchOf(bytes(text), type);
  return ask(under.model('http://fake.invalid', { fetch, retry: { retries: 0 } }), { tools }, { stream });
}

describe.each(everyProvider)('what is no answer is an error at $title', (under) => {
  test.each<[string, string, string]>([
    ['an empty object', '{}', 'application/json'],
    ['an empty list', '[]', 'application/json'],
    ['null', 'null', 'application/json'],
    ['a page of HTML', '<html><body>Bad gateway</body></html>', 'text/html'],
    ['text', 'hello', 'text/plain'],
    ['nothing', '', 'application/json'],
    ['half an object', '{"choices":[{"message":', 'application/json'],
    ['another API', '{"status":"ok","data":[1,2,3]}', 'application/json'],
  ])('%s, not streaming', async (_what, text, type) => {
    const { last } = await answer(under, text, { stream: false, type });
    expect(last.errorCode, JSON.stringify(last)).toBeDefined();
    expect(last.content).toBeUndefined();
  });

  test.each<[string, string]>([
    ['nothing', ''],
    ['blank lines', '\n\n\n\n'],
    ['comments only', ': a\n\n: b\n\n'],
    ['a page of HTML', '<html>\n<body>\nBad gateway\n</body>\n</html>\n'],
    ['an empty event', 'data: {}\n\n'],
    ['events of another kind', 'event: hello\ndata: {"type":"hello"}\n\n'],
    ['JSON that is none', 'data: {"a":\n\n'],
  ])('%s, streaming', async (_what, text) => {
    const { last } = await answer(under, text);
    expect(last.errorCode, JSON.stringify(last)).toBeDefined();
    expect(last.retryable).toBe(true);
  });

  test('a server that does not stream though it was asked to is understood, or is an error', async () => {
    const { json } = under.answer({ text: 'whole' });
    const { last } = await answer(under, JSON.stringify(json), { type: 'application/json' });
    if (last.errorCode === undefined) expect(last.content?.parts).toMatchObject([{ type: 'text', text: 'whole' }]);
    else expect(last.content).toBeUndefined();
  });
});

describe.each(providers)('counts at $title', (under) => {
  test.each(['"12"', '-3', 'null', '{}', '[]', 'true'])('%s is no count', async (count) => {
    const { json } = under.answer({ text: 'a' });
    const text = JSON.stringify(json).replaceAll(/(?<=(?:tokens?|TokenCount)":)\d+/gi, count);
    expect(text).toContain(`:${count}`);
    const { last } = await answer(under, text, { stream: false });
    expect(last.content?.parts).toMatchObject([{ text: 'a' }]);
    expect(last.usage ?? {}).toEqual({});
  });
});

describe('Chat Completions', () => {
  const call = (id: string | undefined, name: string | undefined, args: string | null, index?: number) => ({
    tool_calls: [
      { ...(id ? { id } : {}), ...(index === undefined ? {} : { index }), function: { name, arguments: args } },
    ],
  });
  const calls = async (...deltas: object[]) => {
    const { last } = await answer(openaiChat, sse(...deltas.map((delta) => chunk(delta)), chunk({}, 'stop'), '[DONE]'));
    const parts = last.content?.parts.flatMap((part) =>
      part.type === 'function_call' ? [[part.name, part.args]] : [],
    );
    return { parts, last };
  };

  test('F1 calls whose pieces are mixed find one another by their indexes', async () => {
    const { parts } = await calls(
      call('a', 'weather', '{"city":', 0),
      call('b', 'weather', '{"city":', 1),
      call(undefined, undefined, '"x"}', 0),
      call(undefined, undefined, '"y"}', 1),
    );
    expect(parts).toEqual([
      ['weather', { city: 'x' }],
      ['weather', { city: 'y' }],
    ]);
  });

  test('F1 all at index 0, told apart by their ids', async () => {
    const { parts } = await calls(call('a', 'weather', '{"city":"x"}', 0), call('b', 'weather', '{"city":"y"}', 0));
    expect(parts).toHaveLength(2);
  });

  test('F1 indexes that begin at 1, skip some, or come backwards', async () => {
    const { parts } = await calls(
      call('b', 'weather', '{"city":"second"}', 7),
      call('a', 'weather', '{"city":"first"}', 1),
    );
    expect(parts?.map(([, args]) => args)).toEqual([{ city: 'second' }, { city: 'first' }]);
  });

  test.each([true, false])(
    'two calls of one id are two calls, and go back under two ids, streaming: %s',
    async (stream) => {
      const each = (index: number, city: string) => ({
        ...(stream ? { index } : {}),
        id: 'same',
        function: { name: 'weather', arguments: JSON.stringify({ city }) },
      });
      const tool_calls = [each(0, 'x'), each(1, 'y')];
      const text = stream
        ? sse(chunk({ tool_calls }), chunk({}, 'tool_calls'), '[DONE]')
        : JSON.stringify({ choices: [{ message: { tool_calls }, finish_reason: 'tool_calls' }] });
      const { last } = await answer(openaiChat, text, { stream });
      expect(last.content?.parts).toMatchObject([{ args: { city: 'x' } }, { args: { city: 'y' } }]);
      const ids = last.content?.parts.map((part) => (part._meta?.provider as { id?: string } | undefined)?.id);
      expect(ids).toEqual(['same', undefined]);
    },
  );

  test('pieces of one id without a name stay one call, whatever their indexes', async () => {
    const { parts } = await calls(call('a', 'weather', '{"city":', 0), call('a', undefined, '"x"}', 1));
    expect(parts).toEqual([['weather', { city: 'x' }]]);
  });

  test.each(['max_tokens', 'MAX_TOKENS', 'max_output_tokens', 'model_length', 'length'])(
    'F8 cut, in the words of %s: nothing of it runs',
    async (reason) => {
      const { last } = await answer(
        openaiChat,
        sse(chunk(call('a', 'weather', '{"city":"x"}', 0)), chunk({}, reason), '[DONE]'),
      );
      expect(last.finishReason).toBe('length');
    },
  );

  test('details of reasoning that come in pieces are those of an answer in one piece', async () => {
    const detail = (text: string, more = {}) => ({ type: 'reasoning.text', index: 0, text, ...more });
    const other = { type: 'reasoning.encrypted', index: 1, data: 'gAAA', id: 'r1' };
    const streamed = await answer(
      openaiChat,
      sse(
        chunk({ reasoning: 'a', reasoning_details: [detail('a', { signature: null })] }),
        chunk({ reasoning: 'b', reasoning_details: [detail('b')] }),
        chunk({ reasoning_details: [detail('', { signature: 's' }), other] }),
        chunk({ content: 'x' }, 'stop'),
        '[DONE]',
      ),
    );
    const message = { content: 'x', reasoning: 'ab', reasoning_details: [detail('ab', { signature: 's' }), other] };
    const whole = JSON.stringify({ choices: [{ message, finish_reason: 'stop' }] });
    expect(streamed.last).toEqual((await answer(openaiChat, whole, { stream: false })).last);
  });

  test('F3 null, blank and missing arguments are none', async () => {
    const { parts } = await calls(
      call('a', 'weather', null, 0),
      call('b', 'weather', '  ', 1),
      call('c', 'weather', 'null', 2),
    );
    expect(parts?.map(([, args]) => args)).toEqual([{}, {}, {}]);
  });

  test.each(['stop', 'tool_calls', 'function_call', 'eos', 'end_turn'])(
    'calls with the finish reason %s are calls',
    async (reason) => {
      const { last } = await answer(openaiChat, sse(chunk(call('a', 'weather', '{}', 0)), chunk({}, reason), '[DONE]'));
      expect(last).toMatchObject({ finishReason: 'tool_calls' });
    },
  );

  test('tool_calls without a call is an end', async () => {
    const { last } = await answer(openaiChat, sse(chunk({ content: 'hi' }), chunk({}, 'tool_calls'), '[DONE]'));
    expect(last).toMatchObject({ finishReason: 'stop', content: { parts: [{ text: 'hi' }] } });
  });

  test('F8 content_filter with calls in it runs none of them', async () => {
    const { last } = await answer(
      openaiChat,
      sse(chunk(call('a', 'weather', '{}', 0)), chunk({}, 'content_filter'), '[DONE]'),
    );
    expect(last.finishReason).toBe('safety');
  });

  test('usage early, late and repeated counts once, the last of it', async () => {
    const usage = (prompt_tokens: number, completion_tokens: number) => ({
      choices: [],
      usage: { prompt_tokens, completion_tokens },
    });
    const { last } = await answer(
      openaiChat,
      sse(
        usage(5, 0),
        { ...chunk({ content: 'a' }), usage: { prompt_tokens: 5, completion_tokens: 1 } },
        chunk({}, 'stop'),
        usage(5, 9),
        usage(5, 9),
        '[DONE]',
      ),
    );
    expect(last.usage).toEqual({ inputTokens: 5, outputTokens: 9 });
  });

  test('whatever comes after the end mark is nobody’s word', async () => {
    const { last, text } = await answer(
      openaiChat,
      `${sse(chunk({ content: 'a' }, 'stop'), '[DONE]')}${sse(chunk({ content: 'b' }))}`,
    );
    expect([text, last.content?.parts]).toEqual(['a', [{ type: 'text', text: 'a' }]]);
  });

  test.each([null, undefined, {}, { content: null }, { tool_calls: null }, { tool_calls: [] }, { role: 'assistant' }])(
    'a delta of %j is nothing',
    async (delta) => {
      const odd = { choices: [{ index: 0, delta, finish_reason: null }] };
      const { last } = await answer(
        openaiChat,
        sse(odd, { choices: null }, { choices: [] }, chunk({ content: 'a' }), odd, chunk({}, 'stop'), '[DONE]'),
      );
      expect(last.content?.parts).toEqual([{ type: 'text', text: 'a' }]);
    },
  );
});

describe('Anthropic', () => {
  const start = { type: 'message_start', message: { model: 'm', usage: { input_tokens: 1, output_tokens: 1 } } };
  const stop = (stop_reason: string) => [
    { type: 'message_delta', delta: { stop_reason }, usage: {} },
    { type: 'message_stop' },
  ];
  const delta = (index: number, text: string) => ({
    type: 'content_block_delta',
    index,
    delta: { type: 'text_delta', text },
  });

  test('text whose block was never begun is not lost', async () => {
    const { last, text } = await answer(anthropic, named(start, delta(0, 'hel'), delta(0, 'lo'), ...stop('end_turn')));
    expect([text, last.content?.parts]).toEqual(['hello', [{ type: 'text', text: 'hello' }]]);
  });

  test('the end may come without message_stop, or without message_delta', async () => {
    const begun = [
      start,
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      delta(0, 'hi'),
    ];
    const [reason] = stop('end_turn');
    expect((await answer(anthropic, named(...begun, reason as never))).last.finishReason).toBe('stop');
    expect((await answer(anthropic, named(...begun, { type: 'message_stop' }))).last.finishReason).toBe('stop');
    expect((await answer(anthropic, named(...begun))).last.errorCode).toBe('stream_ended');
  });

  test.each(['end_turn', 'tool_use', 'stop_sequence'])('a call with %s is a call', async (reason) => {
    const block = { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'x' } };
    const { last } = await answer(
      anthropic,
      named(start, { type: 'content_block_start', index: 0, content_block: block } as never, ...stop(reason)),
    );
    expect(last).toMatchObject({ finishReason: 'tool_calls', content: { parts: [{ args: { city: 'x' } }] } });
  });

  test('pings and unknown events are passed over', async () => {
    const odd = { type: 'ping' };
    const block = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'a' } };
    const { last } = await answer(
      anthropic,
      named(odd, start, odd, { type: 'new_thing' }, block as never, odd, ...stop('end_turn')),
    );
    expect(last.content?.parts).toEqual([{ type: 'text', text: 'a' }]);
  });
});

describe('Gemini', () => {
  const said = (parts: unknown, finishReason?: string) => ({
    candidates: [{ content: { parts, role: 'model' }, finishReason }],
  });

  test.each([undefined, null, []])('parts of %j are none', async (parts) => {
    const { last } = await answer(
      gemini,
      sse(said(parts), said([{ text: 'a' }]), { candidates: [{ finishReason: 'STOP' }] }),
    );
    expect(last).toMatchObject({ finishReason: 'stop', content: { parts: [{ text: 'a' }] } });
  });

  test('arguments of null are none, and text of null is nothing', async () => {
    const parts = [{ text: null, functionCall: { name: 'weather', args: null } }, { text: 'b' }];
    const { last } = await answer(gemini, sse(said(parts, 'STOP')));
    expect(last.content?.parts).toMatchObject([{ name: 'weather', args: {} }, { text: 'b' }]);
  });

  test('the finish reason may come before the last words', async () => {
    const { last } = await answer(gemini, sse(said([{ text: 'a' }], 'STOP'), said([{ text: 'b' }])));
    expect(last.content?.parts).toEqual([{ type: 'text', text: 'ab' }]);
  });
});

describe('Responses', () => {
  test('items that were streamed count where the end lists none', async () => {
    const item = {
      type: 'message',
      id: 'm',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'hi', annotations: [] }],
    };
    const events = [
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: { model: 'm', status: 'completed', output: [] } },
    ];
    const { last } = await answer(openaiResponses, named(...events));
    expect(last).toMatchObject({ finishReason: 'stop', content: { parts: [{ type: 'text', text: 'hi' }] } });
  });

  test('an item that is told of twice is one, and arguments may come as an object', async () => {
    const item = { type: 'function_call', id: 'fc', call_id: 'c', name: 'weather', arguments: { city: 'x' } };
    const done = { type: 'response.output_item.done', output_index: 0, item };
    const end = { type: 'response.completed', response: { model: 'm', status: 'completed', output: [] } };
    const { last } = await answer(openaiResponses, named(done, done, end));
    expect(last.content?.parts).toMatchObject([{ name: 'weather', args: { city: 'x' } }]);
  });

  test('a response that failed, was cancelled or is still queued is none', async () => {
    for (const status of ['failed', 'cancelled', 'queued', 'in_progress']) {
      const { last } = await answer(openaiResponses, JSON.stringify({ id: 'r', status, output: [] }), {
        stream: false,
      });
      expect(last.errorCode, status).toBeDefined();
    }
  });
});
