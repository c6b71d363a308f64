import { describe, expect, test } from 'vitest';
import type { AnswerLimits } from '../../../src/contracts/index.ts';
import { allowAll } from '../../../src/index.ts';
import { bot, endOf, hostOf, notingTool, ofType, say } from '../../host/kit.ts';
import type { ModelUnderTest } from '../../suites/model.ts';
import { ask, named, sse, tool } from './kit.ts';
import { anthropic, gemini, openaiChat, openaiResponses, providers } from './providers.ts';
import { FakeProvider } from './server.ts';

const big = 'z'.repeat(50);
const times = (count: number, make: (index: number) => string) => Array.from({ length: count }, (_, k) => make(k));
const chat = (delta: object) => sse({ choices: [{ index: 0, delta, finish_reason: null }] });
const begins = (index: number) =>
  chat({ tool_calls: [{ index, id: `c${index}`, type: 'function', function: { name: 'look', arguments: '' } }] });
const block = (index: number, content_block: object) =>
  named({ type: 'content_block_start', index, content_block } as never);
const grows = (delta: object) => named({ type: 'content_block_delta', index: 0, delta } as never);
const toolUse = { type: 'tool_use', id: 'c', name: 'look', input: {} };
const item = (more: object) => named({ type: 'response.output_item.done', output_index: 0, item: more } as never);
const functionCall = (k: number, args: string) =>
  item({ type: 'function_call', id: `fc${k}`, call_id: `c${k}`, name: 'look', arguments: args });
const part = (more: object) => sse({ candidates: [{ index: 0, content: { role: 'model', parts: [more] } }] });

/** What is kept of a stream before the runtime is shown anything; no stream ends by itself. */
const cases: [ModelUnderTest, keyof AnswerLimits, string[]][] = [
  [
    openaiChat,
    'args',
    [begins(0), ...times(5, () => chat({ tool_calls: [{ index: 0, function: { arguments: big } }] }))],
  ],
  [openaiChat, 'calls', times(102, begins)],
  [openaiChat, 'other', times(5, (k) => chat({ reasoning_details: [{ type: 'x', index: k, data: big }] }))],
  [openaiChat, 'text', times(5, () => chat({ refusal: big }))],
  [openaiResponses, 'args', times(3, (k) => functionCall(k, JSON.stringify({ q: big })))],
  [openaiResponses, 'calls', times(102, (k) => functionCall(k, ''))],
  [openaiResponses, 'other', times(3, (k) => item({ type: 'web_search_call', id: `ws${k}`, action: { query: big } }))],
  [anthropic, 'args', [block(0, toolUse), ...times(5, () => grows({ type: 'input_json_delta', partial_json: big }))]],
  [anthropic, 'calls', times(102, (k) => block(k, { ...toolUse, id: `c${k}`, input: '' }))],
  [
    anthropic,
    'other',
    [
      block(0, { type: 'thinking', thinking: '', signature: '' }),
      ...times(5, () => grows({ type: 'signature_delta', signature: big })),
    ],
  ],
  [gemini, 'args', times(3, () => part({ functionCall: { name: 'look', args: { q: big } } }))],
  [gemini, 'calls', times(102, () => part({ functionCall: { name: 'look', args: '' } }))],
  [gemini, 'other', times(3, () => part({ inlineData: { mimeType: 'image/png', data: big } }))],
];

describe('what a model adapter collects', () => {
  test.each(cases.map(([under, limit, body]) => [under.title, limit, under, body] as const))(
    'ATT-B9 %s: %s over the bound end the request, though the server has not ended',
    async (_title, limit, under, body) => {
      await using fake = await FakeProvider.start(() => ({ body, hang: true }));
      const look = notingTool('look');
      const { host } = hostOf(bot(under.model(fake.url, { retry: { retries: 0 } })), {
        tools: [look.tool],
        policy: allowAll(),
        answerLimits: { [limit]: 100 },
      });
      const events = await say(await host.open('bot'), 'go');
      expect([endOf(events).reason, look.runs]).toEqual(['failed', []]);
      expect(ofType(events, 'error')[0]).toMatchObject({ code: 'E_ANSWER_LIMIT', details: { limit, max: 100 } });
      await fake.abandoned;
      expect(fake.requests).toHaveLength(1);
    },
  );

  test.each(providers)(
    'ATT-B9 without a runtime the defaults hold at $title, and an ordinary call passes',
    async (under) => {
      const tools = new Map([tool('look', { q: { type: 'string' } })]);
      const calls = [{ id: 'c1', name: 'look', args: { q: big } }];
      await using fake = await FakeProvider.start(() => ({ body: under.answer({ calls }).stream }));
      const { last } = await ask(under.model(fake.url), { tools });
      expect(last.content?.parts.at(-1)).toMatchObject({ type: 'function_call', args: { q: big } });
      fake.handler = () => ({ body: times(1_001, (k) => manyOf(under)(k)), hang: true });
      await expect(ask(under.model(fake.url), { tools })).rejects.toMatchObject({
        code: 'E_ANSWER_LIMIT',
        details: { limit: 'calls', max: 1_000 },
      });
    },
  );
});

function manyOf(under: ModelUnderTest): (index: number) => string {
  if (under === openaiChat) return begins;
  if (under === openaiResponses) return (k) => functionCall(k, '{}');
  if (under === anthropic) return (k) => block(k, { ...toolUse, id: `c${k}` });
  return () => part({ functionCall: { name: 'look', args: {} } });
}
