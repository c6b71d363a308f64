import { describe, expect, test } from 'vitest';
import type { ModelUnderTest } from '../../suites/model.ts';
import { everyProvider as providers } from './ai-sdk-providers.ts';
import { ask, fetchOf, named, sse, tool } from './kit.ts';
import { anthropic, gemini, openaiChat, openaiResponses } from './providers.ts';
import { FakeProvider } from './server.ts';

const tools = new Map([tool('weather', { city: { type: 'string' } })]);
const events = (...list: object[]) => named(...(list as { type: string }[]));
const usage = { input_tokens: 12, output_tokens: 7 };

async function answer(under: ModelUnderTest, body: string, stream = true) {
  const fetch = fetchOf([new TextEncoder().encode(body)], stream ? 'text/event-stream' : 'application/json');
  return (await ask(under.model('http://fake.invalid', { fetch, retry: { retries: 0 } }), { tools }, { stream })).last;
}

const chat = (...ends: string[]) =>
  sse(
    {
      choices: [
        { index: 0, delta: { tool_calls: [{ index: 0, id: 'a', function: { name: 'weather', arguments: '{}' } }] } },
      ],
    },
    ...ends.map((finish_reason) => ({ choices: [{ index: 0, delta: {}, finish_reason }] })),
    '[DONE]',
  );
const messages = (...ends: string[]) =>
  events(
    { type: 'message_start', message: { model: 'm', id: 'x' } },
    { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 'a', name: 'weather', input: {} } },
    ...ends.map((stop_reason) => ({ type: 'message_delta', delta: { stop_reason } })),
    { type: 'message_stop' },
  );
const content = (...ends: string[]) =>
  sse(
    { candidates: [{ content: { parts: [{ functionCall: { name: 'weather', args: {} } }] } }] },
    ...ends.map((finishReason) => ({ candidates: [{ finishReason }] })),
  );
const call = { type: 'function_call', id: 'f', call_id: 'c', name: 'weather', arguments: '{}' };
const response = (type: string, more: object) =>
  events({ type: 'response.output_item.done', item: call }, { type, response: { output: [], ...more } });

describe('an answer that was cut or refused stays so', () => {
  test.each([
    ['Chat, cut', openaiChat, chat('length', 'stop'), 'length'],
    ['Chat, filtered', openaiChat, chat('content_filter', 'tool_calls'), 'safety'],
    ['Messages', anthropic, messages('max_tokens', 'tool_use'), 'length'],
    ['generateContent', gemini, content('STOP', 'SAFETY', 'STOP'), 'safety'],
    [
      'Responses, by its event alone',
      openaiResponses,
      response('response.incomplete', { incomplete_details: { reason: 'max_output_tokens' } }),
      'length',
    ],
    [
      'Responses, by its event against its word',
      openaiResponses,
      response('response.incomplete', { status: 'completed' }),
      'length',
    ],
    ['Responses, without a reason', openaiResponses, response('response.incomplete', {}), 'length'],
    [
      'Responses, that calls itself complete',
      openaiResponses,
      response('response.completed', { status: 'completed', incomplete_details: { reason: 'max_output_tokens' } }),
      'length',
    ],
  ] as const)('EDGE-M1 whatever good word follows: %s', async (_, under, body, reason) => {
    expect(await answer(under, body)).toMatchObject({ finishReason: reason });
  });

  test.each([
    ['Chat', openaiChat, chat('new_word', 'stop'), 'new_word'],
    ['generateContent', gemini, content('NEW_WORD', 'STOP'), 'NEW_WORD'],
  ] as const)('EDGE-M1 so does a word that is not known: %s', async (_, under, body, word) => {
    expect(await answer(under, body)).toMatchObject({ errorCode: word });
  });

  test.each([
    ['Chat', openaiChat, chat('stop', 'tool_calls')],
    ['Messages', anthropic, messages('end_turn', 'tool_use')],
    ['generateContent', gemini, content('FINISH_REASON_UNSPECIFIED', 'STOP')],
  ] as const)('good words may follow one another: %s', async (_, under, body) => {
    expect(await answer(under, body)).toMatchObject({ finishReason: 'tool_calls' });
  });
});

test.each([{ willContinue: true }, { partialArgs: [{ jsonPath: '$.city', stringValue: 'Ro' }] }])(
  'EDGE-M2 a call whose arguments come in pieces is not taken for one without any: %o',
  async (more) => {
    const body = sse({
      candidates: [{ content: { parts: [{ functionCall: { name: 'weather', ...more } }] }, finishReason: 'STOP' }],
    });
    const last = await answer(gemini, body);
    expect(last).toMatchObject({ errorCode: 'bad_response' });
    expect(last.content).toBeUndefined();
  },
);

const error = { code: 'new_trouble', message: 'no' };
const usageMetadata = { promptTokenCount: 12, candidatesTokenCount: 7 };
const candidate = {
  candidates: [{ content: { parts: [{ functionCall: { name: 'weather', args: {} } }] }, finishReason: 'STOP' }],
};
const failing = (code: string) => sse({ ...candidate, usageMetadata }, { error: { code, message: 'no' } });
describe('EDGE-M3 an answer that fails tells its tokens and the word of its provider', () => {
  test.each([
    ['Responses, failed', openaiResponses, response('response.failed', { error, usage }), true],
    [
      'Responses, complete and failed',
      openaiResponses,
      response('response.completed', { status: 'failed', error, usage }),
      true,
    ],
    ['Responses, whole', openaiResponses, JSON.stringify({ status: 'failed', error, output: [], usage }), false],
    ['Responses, cancelled', openaiResponses, response('response.cancelled', { usage }), true, 'stream_ended'],
    ['generateContent', gemini, failing('new_trouble'), true],
    ['generateContent, with a status as text', gemini, failing('500'), true, 'http_500'],
    ['generateContent, whole', gemini, JSON.stringify({ ...candidate, error, usageMetadata }), false],
    ['Chat, whole', openaiChat, JSON.stringify({ error, usage: { prompt_tokens: 12, completion_tokens: 7 } }), false],
  ] as [string, ModelUnderTest, string, boolean, string?][])(
    '%s',
    async (_, under, body, stream, word = 'new_trouble') => {
      const last = await answer(under, body, stream);
      expect(last).toMatchObject({ errorCode: word, usage: { inputTokens: 12, outputTokens: 7 } });
      expect(last.content).toBeUndefined();
    },
  );
});

describe.each(providers)('what only HTTP says, at $title', (under) => {
  test('EDGE-M4 a status beyond those that there are is told as it is', async () => {
    await using fake = await FakeProvider.start(() => ({ status: 999, body: { error: { message: 'not for you' } } }));
    const { last } = await ask(under.model(fake.url, { retry: { retries: 0 } }), { tools });
    expect(last).toMatchObject({ errorCode: 'http_999', retryable: false });
    expect(last.errorMessage).toContain('not for you');
  });

  test('EDGE-M4 the words beside the status may be in any letters', async () => {
    const { json } = under.answer({ text: 'whole' });
    const real = fetchOf([new TextEncoder().encode(JSON.stringify(json))], 'application/json');
    const fetch: typeof globalThis.fetch = async (...given) => {
      const made = await real(...given);
      Object.defineProperty(made, 'statusText', { value: 'в порядке' });
      return made;
    };
    const { last } = await ask(
      under.model('http://fake.invalid', { fetch, retry: { retries: 0 } }),
      {},
      { stream: false },
    );
    expect(last.content?.parts).toMatchObject([{ type: 'text', text: 'whole' }]);
  });
});
