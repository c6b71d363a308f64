import { describe, expect, test } from 'vitest';
import { fromAgent } from '../../../src/adapters/adk/index.ts';
import { findModel } from '../../../src/adapters/models/index.ts';
import { tokenCost, totalTokens } from '../../../src/contracts/index.ts';
import { LlmAgent } from '../../../src/runtime/index.ts';
import { ask } from './kit.ts';
import { openaiChat, providers } from './providers.ts';
import { FakeProvider } from './server.ts';

const price = { input: 2, output: 10, cachedRead: 0.5 };

test('cached tokens have their own price and are a part of the input', () => {
  const usage = { inputTokens: 1_000_000, cachedReadTokens: 400_000, cacheWriteTokens: 100_000, outputTokens: 200_000 };
  expect(tokenCost(usage, price)).toBeCloseTo(0.5 * 2 + 0.4 * 0.5 + 0.1 * 2 + 0.2 * 10);
  expect(tokenCost(usage, { input: 1, output: 1, cacheWrite: 3 })).toBeCloseTo(0.9 + 0.3 + 0.2);
  expect(tokenCost({}, price)).toBe(0);
});

describe.each(providers)('$title', (under) => {
  test.each([true, false])('an answer tells its cost, streaming: %s', async (stream) => {
    const { json, stream: text } = under.answer({ text: 'ok' });
    await using fake = await FakeProvider.start(() => ({ body: stream ? text : json }));
    // 12 in, 4 of them cached, 7 out.
    const usd = (8 * 2 + 4 * 0.5 + 7 * 10) / 1_000_000;
    const own = await ask(under.model(fake.url, { prices: { 'gpt-test-1': price } }), {}, { stream });
    expect(own.last.usage?.cost?.usd).toBeCloseTo(usd, 12);
    const asked = await ask(under.model(fake.url, { prices: { alias: price } }), { model: 'alias' }, { stream });
    expect(asked.last.usage?.cost?.usd).toBeCloseTo(usd, 12);
    // What was cached and thought is in there once.
    expect(own.last.usage && totalTokens(own.last.usage)).toBe(19);
    const none = await ask(under.model(fake.url, { prices: { other: price } }), {}, { stream });
    expect(none.last.usage).toMatchObject({ inputTokens: 12, outputTokens: 7 });
    expect(none.last.usage?.cost).toBeUndefined();
  });
});

test('a registry knows prices by the name that a model is found under, and a limit in USD then holds', async () => {
  const calls = [{ id: 'c', name: 'look' }];
  await using fake = await FakeProvider.start(() => ({ body: openaiChat.answer({ calls }).stream }));
  const model = findModel('shop/gpt-cheap', {
    providers: { shop: { api: 'openai', baseUrl: fake.url } },
    prices: { 'shop/gpt-cheap': { input: 100_000, cachedRead: 0, output: 0 } },
  });
  const look = { name: 'look', description: 'looks', execute: () => 'nothing' };
  const source = fromAgent(new LlmAgent({ name: 'agent', model, tools: [look] }), { limits: { usd: 1.5 } });
  const session = await source.open({}, { app: 'test' });
  const events = [];
  for await (const event of session.stream('hi')) events.push(event);
  expect(events.find(({ type }) => type === 'usage')).toMatchObject({ cost: { usd: expect.closeTo(0.8, 6) } });
  expect(events.at(-1)).toMatchObject({
    reason: 'max_budget',
    data: { usage: { cost: { usd: expect.closeTo(1.6, 6) } } },
  });
  expect(fake.requests).toHaveLength(2);
});
