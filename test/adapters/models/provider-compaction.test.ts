import { describe, expect, test } from 'vitest';
import {
  anthropicModel,
  fallbackModel,
  openaiChatModel,
  openaiResponsesModel,
} from '../../../src/adapters/models/index.ts';
import type { AgentEvent } from '../../../src/contracts/index.ts';
import { createHost, LlmAgent, run } from '../../../src/index.ts';
import { ask, model, named, stored, tool, user } from './kit.ts';
import { openaiChat } from './providers.ts';
import { FakeProvider } from './server.ts';

type Json = Record<string, unknown>;
const tools = new Map([tool('f', { x: { type: 'integer' } })]);
const apiKey = 'sk-0123456789';
const events = (...all: object[]) => named(...(all as { type: string }[]));

/** A message of Claude whose content is these blocks, streamed; compaction blocks come empty, and then at once. */
function message(blocks: readonly Json[], usage: object, stop = 'end_turn'): string {
  const start = {
    type: 'message_start',
    message: { type: 'message', id: 'm', role: 'assistant', model: 'claude', content: [], usage: { input_tokens: 1 } },
  };
  const told = blocks.flatMap((block, index) => {
    const { content, encrypted_content, ...rest } = block;
    const isCompaction = block.type === 'compaction';
    return [
      {
        type: 'content_block_start',
        index,
        content_block: isCompaction ? { ...rest, content: null, encrypted_content: null } : block,
      },
      ...(isCompaction
        ? [{ type: 'content_block_delta', index, delta: { type: 'compaction_delta', content, encrypted_content } }]
        : []),
      { type: 'content_block_stop', index },
    ];
  });
  return events(
    start,
    ...told,
    { type: 'message_delta', delta: { stop_reason: stop }, usage },
    { type: 'message_stop' },
  );
}

const summary = { type: 'compaction', content: 'They spoke of cheese.', encrypted_content: 'opaque+/=' };
const said = { type: 'text', text: 'Well.' };
const iterations = [
  { type: 'compaction', input_tokens: 180_000, output_tokens: 3_500, cache_read_input_tokens: 10 },
  { type: 'message', input_tokens: 23_000, output_tokens: 1_000 },
];
const usage = { input_tokens: 23_000, output_tokens: 1_000, iterations };

describe('Claude sums up by itself', () => {
  const at = (fake: FakeProvider, more: object = {}) =>
    anthropicModel('claude', { apiKey, baseUrl: fake.url, compactAt: 150_000, ...more });

  test('CMP-20 it is asked to, in the header and the form of the API; a summary of ours is not', async () => {
    await using fake = await FakeProvider.start(() => ({ body: message([said], { output_tokens: 1 }) }));
    await ask(at(fake, { headers: { 'Anthropic-Beta': 'other-1, compact-2026-01-12' } }));
    await ask(at(fake), { purpose: 'compaction' });
    await ask(anthropicModel('claude', { apiKey, baseUrl: fake.url }));
    const [first, ours, without] = fake.requests;
    expect(first?.body.context_management).toEqual({
      edits: [{ type: 'compact_20260112', trigger: { type: 'input_tokens', value: 150_000 } }],
    });
    expect(first?.headers['anthropic-beta']).toBe('other-1,compact-2026-01-12');
    expect(ours?.body).not.toHaveProperty('context_management');
    expect(without?.body).not.toHaveProperty('context_management');
    expect(without?.headers['anthropic-beta']).toBeUndefined();
  });

  test.each([true, false])(
    'CMP-20 its summary is a part of the answer, whole, and what it has cost is counted; streamed: %s',
    async (stream) => {
      const whole = {
        type: 'message',
        id: 'm',
        model: 'claude',
        content: [summary, said],
        stop_reason: 'end_turn',
        usage,
      };
      await using fake = await FakeProvider.start(() => ({ body: stream ? message([summary, said], usage) : whole }));
      const { last, text } = await ask(at(fake), {}, { stream });
      expect(last).toMatchObject({
        finishReason: 'stop',
        compacted: { contextTokens: 24_000 },
        usage: { inputTokens: 203_010, cachedReadTokens: 10, outputTokens: 4_500 },
        content: {
          parts: [
            { type: '_provider', _meta: { provider: { opaque: summary } } },
            { type: 'text', text: 'Well.' },
          ],
        },
      });
      expect(stream ? text : 'Well.').not.toContain('cheese');
    },
  );

  test('CMP-20 it goes back as it came, and what it stands for is not sent again; to nobody else', async () => {
    await using fake = await FakeProvider.start(() => ({ body: message([summary, said], usage) }));
    const { last } = await ask(at(fake));
    const contents = [user('hi'), model('hello'), user('cheese?'), ...stored(last), user('and now?')];
    await ask(at(fake), { contents });
    expect(fake.requests[1]?.body.messages).toMatchObject([
      { role: 'assistant', content: [summary, said] },
      { role: 'user', content: [{ type: 'text', text: 'and now?' }] },
    ]);
    // Also where it is not asked to sum up any more: what it has made is still its own.
    await ask(anthropicModel('claude', { apiKey, baseUrl: fake.url }), { contents });
    expect(fake.requests[2]?.headers['anthropic-beta']).toBe('compact-2026-01-12');
    await ask(openaiChatModel('gpt', { apiKey, baseUrl: `${fake.url}/v1` }), { contents });
    expect(JSON.stringify(fake.requests[3]?.body)).toContain('cheese?');
    expect(JSON.stringify(fake.requests[3]?.body)).not.toContain('opaque');
  });

  test('CMP-20 a summary that failed stands for nothing; a call keeps its result, and a result its call', async () => {
    const failed = { type: 'compaction', content: null, encrypted_content: null };
    const call = { type: 'tool_use', id: 't1', name: 'f', input: { x: 1 } };
    await using fake = await FakeProvider.start((_, count) => ({
      body: message(count === 1 ? [failed, said] : count === 2 ? [call, summary] : [summary, call], usage, 'tool_use'),
    }));
    const none = await ask(at(fake), { tools });
    expect(none.last).not.toHaveProperty('compacted');
    const before = await ask(at(fake), { tools, contents: [user('hi'), ...stored(none.last), user('on')] });
    expect(fake.requests[1]?.body.messages).toHaveLength(3);
    // The call stands before the summary: its result would have none.
    await ask(at(fake), { tools, contents: [user('hi'), ...stored(before.last)] });
    expect(fake.requests[2]?.body.messages).toHaveLength(3);
    const behind = await ask(at(fake), { tools });
    await ask(at(fake), { tools, contents: [user('hi'), ...stored(behind.last)] });
    expect(fake.requests[4]?.body.messages).toMatchObject([
      { content: [{ type: 'compaction' }, { type: 'tool_use', id: 't1' }] },
      { content: [{ type: 'tool_result', tool_use_id: 't1' }] },
    ]);
  });
});

describe('OpenAI sums up by itself', () => {
  const item = { type: 'compaction', id: 'cmp_1', encrypted_content: 'opaque+/=' };
  const words = {
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
    content: [{ type: 'output_text', text: 'Well.', annotations: [] }],
  };
  const response = (output: object[]) => ({
    body: events({
      type: 'response.completed',
      response: {
        id: 'r',
        object: 'response',
        model: 'm',
        status: 'completed',
        output,
        usage: { input_tokens: 9, output_tokens: 2 },
      },
    }),
  });
  const at = (fake: FakeProvider) => openaiResponsesModel('gpt-5', { apiKey, baseUrl: fake.url, compactAt: 200_000 });

  test('CMP-21 it is asked to; its item is kept whole, goes back to it alone, and nothing before it is sent', async () => {
    await using fake = await FakeProvider.start(() => response([item, words]));
    const { last } = await ask(at(fake));
    expect(fake.requests[0]?.body.context_management).toEqual([{ type: 'compaction', compact_threshold: 200_000 }]);
    expect(last).toMatchObject({ finishReason: 'stop', compacted: {}, usage: { inputTokens: 9, outputTokens: 2 } });
    const contents = [user('hi'), model('hello'), user('cheese?'), ...stored(last), user('and now?')];
    await ask(at(fake), { contents });
    expect(fake.requests[1]?.body.input).toMatchObject([
      item,
      { type: 'message', role: 'assistant' },
      { type: 'message', role: 'user', content: [{ text: 'and now?' }] },
    ]);
    await ask(at(fake), { contents, purpose: 'compaction' });
    expect(fake.requests[2]?.body).not.toHaveProperty('context_management');
    const chat = openaiChatModel('gpt', { apiKey, baseUrl: `${fake.url}/v1` });
    await ask(chat, { contents });
    expect(JSON.stringify(fake.requests[3]?.body)).toContain('cheese?');
    expect(JSON.stringify(fake.requests[3]?.body)).not.toContain('opaque');
  });

  test('CMP-21 a result whose call stands before the item keeps it', async () => {
    const call = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'f', arguments: '{"x":1}' };
    await using fake = await FakeProvider.start((_, count) => response(count === 1 ? [call, item] : [item, call]));
    const before = await ask(at(fake), { tools });
    await ask(at(fake), { tools, contents: [user('hi'), ...stored(before.last)] });
    const input = (of: number) => (fake.requests[of]?.body.input as Json[] | undefined)?.map(({ type }) => type);
    expect(input(1)).toEqual(['message', 'function_call', 'compaction', 'function_call_output']);
    const behind = await ask(at(fake), { tools });
    await ask(at(fake), { tools, contents: [user('hi'), ...stored(behind.last)] });
    expect(input(3)).toEqual(['compaction', 'function_call', 'function_call_output']);
  });
});

test('CMP-22 in a session: the log keeps everything, clients are told, its own compaction has nothing to do; another model is sent all of it', async () => {
  const long = 'All about cheese. '.repeat(800);
  await using claude = await FakeProvider.start((_, count) => {
    if (count === 3) return { status: 529 };
    const told = count === 1 ? { input_tokens: 3_800, output_tokens: 10 } : usageOfSession;
    return { body: message(count === 1 ? [{ type: 'text', text: long }] : [summary, said], told) };
  });
  const usageOfSession = {
    ...usage,
    input_tokens: 90,
    output_tokens: 10,
    iterations: [
      { type: 'compaction', input_tokens: 3_900, output_tokens: 40 },
      { type: 'message', input_tokens: 90, output_tokens: 10 },
    ],
  };
  await using other = await FakeProvider.start(() => ({ body: openaiChat.answer({ text: 'from the other' }).stream }));
  const both = fallbackModel([
    anthropicModel('claude', { apiKey, baseUrl: claude.url, compactAt: 50_000 }),
    openaiChatModel('gpt', { apiKey, baseUrl: `${other.url}/v1` }),
  ]);
  // Above what the second request had, and below what the log has.
  const compaction = { window: 8_000, at: 0.5, keep: 1 };
  const host = createHost({ app: 'shop', agents: [new LlmAgent({ name: 'bot', model: both, compaction })] });
  const session = await host.open('bot');
  const seen: AgentEvent[] = [];
  for (const words of ['tell me all', 'go on', 'and now?'])
    await run(session, words, { onEvent: (event) => seen.push(event) });
  const customs = seen.filter((event) => event.type === 'custom').map((event) => [event.kind, event.data]);
  expect(customs).toContainEqual(['metadata', { compacted: { contextTokens: 100 } }]);
  expect(customs.map(([kind]) => kind)).not.toContain('compacted');
  // The length of a request is what the provider reads from its summary on: nothing is due.
  expect(claude.requests.map(({ body }) => (body.messages as Json[]).length)).toEqual([1, 3, 2]);
  const sent = JSON.stringify(other.requests[0]?.body);
  expect(sent).toContain('tell me all');
  expect(sent).toContain(long.slice(0, 100));
  const logged: string[] = [];
  for await (const event of session.events()) if (event.type === 'message') logged.push(JSON.stringify(event.content));
  expect(logged.join()).toContain(long.slice(0, 100));
  await host.close();
});
