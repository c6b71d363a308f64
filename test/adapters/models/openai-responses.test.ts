import { describe, expect, test } from 'vitest';
import { openaiResponsesModel } from '../../../src/adapters/models/index.ts';
import { ask, fetchOf, named, stored, tool, user } from './kit.ts';
import { FakeProvider } from './server.ts';

const tools = new Map([tool('f', { x: { type: 'integer' } })]);
const at = (...events: object[]) =>
  openaiResponsesModel('gpt-5', {
    apiKey: 'sk-0123456789',
    fetch: fetchOf([new TextEncoder().encode(named(...(events as { type: string }[])))]),
    retry: { retries: 0 },
  });
const response = (more: object) => ({
  id: 'r',
  object: 'response',
  model: 'm',
  status: 'completed',
  output: [],
  ...more,
});
const done = (item: object) => ({ type: 'response.output_item.done', output_index: 0, item });
const completed = (...output: object[]) => ({ type: 'response.completed', response: response({ output }) });
const functionCall = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'f', arguments: '{"x":1}' };

describe('the Responses API', () => {
  test('reasoning items go back whole, calls by call_id, the phase of a message with it', async () => {
    await using fake = await FakeProvider.start();
    const m = openaiResponsesModel('gpt-5', { apiKey: 'sk-0123456789', baseUrl: fake.url });
    const reasoning = {
      type: 'reasoning',
      id: 'rs_1',
      summary: [],
      encrypted_content: 'opaque+/=',
      status: 'completed',
    };
    const message = {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      phase: 'commentary',
      content: [{ type: 'output_text', text: 'Look:', annotations: [] }],
    };
    const search = { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'q' } };
    const first = { id: 'x', status: 'completed' };
    const whole = response({ ...first, output: [reasoning, search, message, functionCall] });
    fake.handler = () => ({ body: named({ type: 'response.completed', response: whole } as never) });
    const { last } = await ask(m, { tools });
    expect(last.content?.parts.map((part) => part.type)).toEqual(['thought', '_provider', 'text', 'function_call']);
    await ask(m, { tools, contents: [user('hi'), ...stored(last, [{ t: 1 }])] });
    const { input, store, include } = fake.requests[1]?.body ?? {};
    expect({ store, include }).toEqual({ store: false, include: ['reasoning.encrypted_content'] });
    expect(input).toEqual([
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] },
      reasoning,
      search,
      { type: 'message', role: 'assistant', content: 'Look:', phase: 'commentary' },
      { type: 'function_call', call_id: 'call_1', name: 'f', arguments: '{"x":1}' },
      { type: 'function_call_output', call_id: 'call_1', output: '{"t":1}' },
    ]);
  });

  test('summaries in parts: shown as they are kept', async () => {
    const summary = ['One.', 'Two.'].map((text) => ({ type: 'summary_text', text }));
    const { last, thought } = await ask(
      at(
        { type: 'response.reasoning_summary_part.added', summary_index: 0 },
        { type: 'response.reasoning_summary_text.delta', summary_index: 0, delta: 'One.' },
        { type: 'response.reasoning_summary_part.added', summary_index: 1 },
        { type: 'response.reasoning_summary_text.delta', summary_index: 1, delta: 'Two.' },
        completed({ type: 'reasoning', id: 'rs', summary, encrypted_content: 'x' }),
      ),
    );
    expect(thought).toBe('One.\n\nTwo.');
    expect(last.content?.parts).toMatchObject([{ type: 'thought', thought: 'One.\n\nTwo.' }]);
  });

  test('a last event without the items: those that were finished on the way count', async () => {
    const { last } = await ask(at(done(functionCall), { type: 'response.completed', response: response({}) }), {
      tools,
    });
    expect(last).toMatchObject({ finishReason: 'tool_calls', content: { parts: [{ name: 'f', args: { x: 1 } }] } });
  });

  test('F8 a call that was cut', async () => {
    const cut = { ...functionCall, arguments: '{"x":', status: 'incomplete' };
    const incomplete = response({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: [cut],
    });
    const { last } = await ask(at({ type: 'response.incomplete', response: incomplete }), { tools });
    expect(last.finishReason).toBe('length');
    expect(last.errorCode).toBeUndefined();
  });

  test('the content filter', async () => {
    const incomplete = response({ status: 'incomplete', incomplete_details: { reason: 'content_filter' } });
    const { last } = await ask(at({ type: 'response.incomplete', response: incomplete }));
    expect(last.finishReason).toBe('safety');
  });

  test.each([
    ['error', { type: 'error', code: 'rate_limit_exceeded', message: 'slow' }, 'rate_limit_exceeded', true],
    [
      'response.failed',
      {
        type: 'response.failed',
        response: response({ status: 'failed', error: { code: 'server_error', message: 'b' } }),
      },
      'server_error',
      true,
    ],
    [
      'response.failed for our own fault',
      {
        type: 'response.failed',
        response: response({ status: 'failed', error: { code: 'invalid_prompt', message: 'b' } }),
      },
      'invalid_prompt',
      false,
    ],
    [
      'response.failed that says nothing of why',
      { type: 'response.failed', response: response({ status: 'failed', error: null }) },
      'server_error',
      true,
    ],
  ])('F5 %s inside a 200', async (_what, event, errorCode, retryable) => {
    const { last, text } = await ask(at({ type: 'response.output_text.delta', delta: 'Par' }, event));
    expect(text).toBe('Par');
    expect(last).toMatchObject({ errorCode, retryable });
  });

  test('a text that is empty is no part of the answer', async () => {
    const content = ['', 'said', ''].map((text) => ({ type: 'output_text', text, annotations: [] }));
    const { last } = await ask(at(done({ type: 'message', id: 'm', role: 'assistant', content }), completed()));
    expect(last.content?.parts).toMatchObject([{ type: 'text', text: 'said' }]);
  });

  test('refusals and citations are parts of their own', async () => {
    const content = [
      { type: 'output_text', text: 'See', annotations: [{ type: 'url_citation', url: 'https://a', title: 'A' }] },
      { type: 'refusal', refusal: 'not that' },
    ];
    const { last } = await ask(at(completed({ type: 'message', id: 'm', role: 'assistant', content })));
    expect(last.finishReason).toBe('refusal');
    expect(last.content?.parts).toMatchObject([
      { type: 'text', text: 'See' },
      { type: 'citation', uri: 'https://a', title: 'A' },
      { type: 'refusal', text: 'not that' },
    ]);
  });
});
