import { describe, expect, test } from 'vitest';
import type { Model } from '../../../src/runtime/index.ts';
import { finishReasonOf } from '../../../src/runtime/index.ts';
import { bot, hostOf, notingTool, say } from '../../host/kit.ts';
import type { ModelUnderTest } from '../../suites/model.ts';
import { ask, fetchOf, named, sse, tool } from './kit.ts';
import { anthropic, gemini, openaiChat, openaiResponses } from './providers.ts';

const tools = new Map([tool('pay', { eur: { type: 'number' } })]);

async function answer(under: ModelUnderTest, text: string) {
  const fetch = fetchOf([new TextEncoder().encode(text)]);
  return ask(under.model('http://fake.invalid', { fetch, retry: { retries: 0 } }), { tools });
}

const chat = (word: string | null) =>
  sse(
    { choices: [{ index: 0, delta: { content: 'well ' } }] },
    {
      choices: [
        {
          index: 0,
          delta: { tool_calls: [{ index: 0, id: 'c', function: { name: 'pay', arguments: '{"eur":5}' } }] },
          finish_reason: word,
        },
      ],
    },
    '[DONE]',
  );
const messages = (word: string) =>
  named(
    { type: 'message_start', message: { model: 'm', usage: {} } } as never,
    {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'tool_use', id: 't', name: 'pay', input: { eur: 5 } },
    } as never,
    { type: 'message_delta', delta: { stop_reason: word }, usage: {} } as never,
    { type: 'message_stop' },
  );
const content = (word: string) =>
  sse({
    candidates: [{ content: { parts: [{ functionCall: { name: 'pay', args: { eur: 5 } } }] }, finishReason: word }],
  });
const response = (word: string) => {
  const item = { type: 'function_call', call_id: 'c', name: 'pay', arguments: '{"eur":5}', status: 'completed' };
  const ended = { status: 'incomplete', incomplete_details: { reason: word }, output: [item], model: 'm' };
  return named({ type: 'response.incomplete', response: ended } as never);
};

const wires: [string, ModelUnderTest, (word: string) => string][] = [
  ['Chat', openaiChat, chat],
  ['Messages', anthropic, messages],
  ['generateContent', gemini, content],
  ['Responses', openaiResponses, response],
];

describe.each(wires)('HUNT-F2 CASE-S3 the end of an answer at %s', (_title, under, bodyOf) => {
  test.each([
    'insufficient_system_resource',
    'abort',
    'network_error',
    'OTHER',
    'NO_IMAGE',
    'something_new',
    'stopped',
  ])('%s is not known to be good: a failure that says it', async (word) => {
    const { last } = await answer(under, bodyOf(word));
    expect(last.content).toBeUndefined();
    expect(last.errorCode?.toLowerCase()).toBe(word.toLowerCase());
    expect(last.retryable).toBe(['insufficient_system_resource', 'abort', 'network_error'].includes(word));
  });

  test.each(['max_tokens', 'MAX_TOKENS'])('%s is a cut', async (word) => {
    expect((await answer(under, bodyOf(word))).last.finishReason).toBe('length');
  });
});

test.each(['stop', 'STOP', 'tool_calls', 'function_call', 'eos', 'end_turn', 'tool_use'])(
  'a call that ends with %s is a call',
  async (word) => {
    expect((await answer(openaiChat, chat(word))).last.finishReason).toBe('tool_calls');
  },
);

test('names of members of objects are no ends', () => {
  expect(['constructor', '__proto__', 'toString', ''].map(finishReasonOf)).toEqual(Array(4).fill(undefined));
});

describe("HUNT-F2 a model of one's own", () => {
  const model = (finishReason: string): Model => ({
    name: 'own',
    async *generate({ contents }) {
      const isDone = contents.some(({ parts }) => parts.some(({ type }) => type === 'function_response'));
      if (!isDone) yield { partial: true, content: { role: 'model', parts: [{ type: 'text', text: 'I pay' }] } };
      yield {
        turnComplete: true,
        finishReason: isDone ? 'stop' : finishReason,
        content: {
          role: 'model',
          parts: isDone
            ? [{ type: 'text', text: 'done' }]
            : [
                { type: 'text', text: 'I pay' },
                { type: 'function_call', id: '', name: 'pay', args: {} },
              ],
        },
      };
    },
  });

  test('whose end is unknown: its call does not run, its word is told, what it said is kept', async () => {
    const pay = notingTool('pay', { annotations: { readOnly: true } });
    const session = await hostOf(bot(model('network_error')), { tools: [pay.tool] }).host.open('bot');
    const events = await say(session, 'go');
    expect(pay.runs).toEqual([]);
    expect(events.at(-1)).toMatchObject({ type: 'stream_end', reason: 'failed' });
    expect(events.find(({ type }) => type === 'error')).toMatchObject({
      code: 'E_MODEL',
      retryable: true,
      details: { errorCode: 'network_error' },
    });
    expect(events.some((event) => event.type === 'message' && event.role === 'agent')).toBe(true);
  });

  test('whose end has another name runs its call; a cut one does not', async () => {
    const pay = notingTool('pay', { annotations: { readOnly: true } });
    const { host } = hostOf(bot(model('END_TURN')), { tools: [pay.tool] });
    expect((await say(await host.open('bot'), 'go')).at(-1)).toMatchObject({ reason: 'completed' });
    expect(pay.runs).toHaveLength(1);
    const { host: cut } = hostOf(bot(model('max_tokens')), { tools: [pay.tool] });
    expect((await say(await cut.open('bot'), 'go')).at(-1)).toMatchObject({ reason: 'completed' });
    expect(pay.runs).toHaveLength(1);
  });
});

describe('an end that is never marked', () => {
  const body = sse({ choices: [{ index: 0, delta: { content: 'All of it.' }, finish_reason: '' }] });

  test.each([
    [undefined, { errorCode: 'stream_ended' }],
    ['fail', { errorCode: 'stream_ended' }],
    ['accept', { finishReason: 'stop', content: { parts: [{ text: 'All of it.' }] } }],
  ] as const)('CASE-P7 unmarkedEnd %s', async (unmarkedEnd, expected) => {
    const fetch = fetchOf([new TextEncoder().encode(body)]);
    const options = { fetch, retry: { retries: 0 }, ...(unmarkedEnd ? { unmarkedEnd } : {}) };
    expect((await ask(openaiChat.model('http://fake.invalid', options))).last).toMatchObject(expected);
  });

  test('CASE-P7 arguments that stop in the middle are cut all the same', async () => {
    const call = { tool_calls: [{ index: 0, id: 'c', function: { name: 'pay', arguments: '{"eur":' } }] };
    const fetch = fetchOf([new TextEncoder().encode(sse({ choices: [{ index: 0, delta: call }] }))]);
    const { last } = await ask(openaiChat.model('http://fake.invalid', { fetch, unmarkedEnd: 'accept' } as never));
    expect(last.finishReason).toBe('length');
  });
});
