import { describe, expect, test } from 'vitest';
import { openaiChatModel } from '../../../src/adapters/models/index.ts';
import { createHost, LlmAgent, run } from '../../../src/index.ts';
import { ask, fetchOf, named, sse } from './kit.ts';
import { anthropic, gemini, openaiChat } from './providers.ts';

const bytes = (text: string) => [new TextEncoder().encode(text)];
const usage = { prompt_tokens: 12, completion_tokens: 7 };
const chat = (word: string) =>
  sse({ choices: [{ index: 0, delta: { content: 'well' }, finish_reason: word }], usage }, '[DONE]');
const messages = named(
  { type: 'message_start', message: { model: 'm', usage: { input_tokens: 5, cache_read_input_tokens: 7 } } } as never,
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'well' } } as never,
  { type: 'message_delta', delta: {}, usage: { output_tokens: 7 } } as never,
);
const content = sse({
  candidates: [{ content: { parts: [{ text: 'well' }] } }],
  usageMetadata: { promptTokenCount: 12, candidatesTokenCount: 7 },
});

describe('tokens of an answer that fails', () => {
  test.each([
    ['Chat, which ended with a word that is not known', openaiChat, chat('new_word'), 'new_word'],
    ['Messages, which broke off', anthropic, messages, 'stream_ended'],
    ['generateContent, which broke off', gemini, content, 'stream_ended'],
  ] as const)('are told: %s', async (_, under, body, code) => {
    const { last } = await ask(
      under.model('http://fake.invalid', { fetch: fetchOf(bytes(body)), retry: { retries: 0 } }),
    );
    expect(last).toMatchObject({ errorCode: code, usage: { inputTokens: 12, outputTokens: 7 } });
  });

  test('count for the turn, with those of attempts that were made again, and with their price', async () => {
    const early = sse({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 1 } });
    const bodies = [early, chat('new_word'), chat('stop')];
    const fetch = ((...args: Parameters<typeof globalThis.fetch>) =>
      fetchOf(bytes(bodies.shift() ?? ''))(...args)) as typeof globalThis.fetch;
    const model = openaiChatModel('m', {
      baseUrl: 'http://fake.invalid/v1',
      fetch,
      retry: { retries: 1, sleep: async () => {} },
      prices: { m: { input: 1_000_000, output: 1_000_000 } },
    });
    const session = await createHost({ app: 'shop', agents: [new LlmAgent({ name: 'bot', model })] }).open('bot');
    const failed = await run(session, 'hi');
    expect(failed).toMatchObject({ reason: 'failed', usage: { inputTokens: 15, outputTokens: 8, cost: { usd: 23 } } });
    expect(await run(session, 'hi')).toMatchObject({
      reason: 'completed',
      usage: { inputTokens: 12, outputTokens: 7 },
    });
  });
});
