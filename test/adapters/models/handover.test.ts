import { describe, expect, test } from 'vitest';
import type { Content } from '../../../src/contracts/index.ts';
import type { ModelUnderTest } from '../../suites/model.ts';
import { everyProvider as providers } from './ai-sdk-providers.ts';
import { ask, call, model, result, stored, tool, user } from './kit.ts';
import { openaiChat } from './providers.ts';
import { FakeProvider } from './server.ts';

const tools = new Map([tool('calendar.add', { day: { type: 'string' } }), tool('weather')]);
const pairs = providers.flatMap((from) => providers.filter((to) => to !== from).map((to) => ({ from, to })));

/** A history that a provider really made, with the names that it was told: thoughts, text, two calls with results. */
async function historyOf(under: ModelUnderTest): Promise<Content[]> {
  await using fake = await FakeProvider.start(({ body }) => {
    const [first = '', second = ''] = under.read(body).tools;
    const calls = [
      { id: 'toolu:1/ü', name: first, args: { day: 'mon' } },
      { id: 'c2', name: second },
    ];
    return { body: under.answer({ thought: 'secret plan', text: 'Looking.', calls }).stream };
  });
  const { last } = await ask(under.model(fake.url), { tools });
  return [user('plan my day'), ...stored(last, [{ added: true }, { sky: 'blue' }])];
}

describe('a history made at one provider goes on at another', () => {
  test.each(pairs)('$from.title → $to.title', async ({ from, to }) => {
    const history = JSON.parse(JSON.stringify(await historyOf(from))) as Content[];
    const called = history.flatMap(({ parts }) =>
      parts.flatMap((part) => (part.type === 'function_call' ? part.name : [])),
    );
    expect(called).toEqual(['calendar.add', 'weather']);
    await using fake = await FakeProvider.start((request) => {
      try {
        to.read(request.body);
      } catch (error) {
        return to.error(400, String(error));
      }
      return { body: to.answer({ text: 'All set.' }).stream };
    });
    const { last } = await ask(to.model(fake.url), { tools, contents: history });
    expect(last).toMatchObject({ finishReason: 'stop', content: { parts: [{ type: 'text', text: 'All set.' }] } });
    const { body } = fake.requests[0] ?? { body: {} };
    const { turns } = to.read(body);
    expect(turns.flatMap((turn) => turn.calls.map(({ args }) => args))).toEqual([{ day: 'mon' }, {}]);
    expect(turns.flatMap((turn) => turn.results)).toHaveLength(2);
    // What only the other provider understands is not sent: neither its thoughts nor its proofs.
    expect(JSON.stringify(body)).not.toContain('secret plan');
    expect(to.proof.of(body)).toEqual([]);
  });

  test.each(providers)('F15 two calls and their results stand together at $title', async (to) => {
    await using fake = await FakeProvider.start(() => ({ body: to.answer({ text: 'ok' }).stream }));
    const contents = [
      user('a'),
      model('b', call('x1', 'weather'), call('x2', 'calendar.add', { day: 'tue' })),
      user(result('x1', 'weather', { content: 'rain' }), result('x2', 'calendar.add', { content: [1, 2] })),
      user('and also this'),
    ];
    await ask(to.model(fake.url), { tools, contents });
    const { turns } = to.read(fake.requests[0]?.body ?? {});
    expect(turns.flatMap((turn) => turn.results)).toHaveLength(2);
    expect(turns.at(-1)?.text).toBe('and also this');
  });
});

describe('ids of calls', () => {
  const long = `thread/${'x'.repeat(60)}:1`;
  const near = `thread/${'x'.repeat(60)}:2`;
  const contents = [
    user('a'),
    model(call(long, 'weather'), call(near, 'weather'), call('plain-1', 'weather')),
    user(result(long, 'weather', {}), result(near, 'weather', {}), result('plain-1', 'weather', {})),
  ];
  const idsOf = async (to: ModelUnderTest, history: Content[], name: string): Promise<string[]> => {
    await using fake = await FakeProvider.start(() => ({ body: to.answer({ text: 'ok' }).stream }));
    await ask(to.model(fake.url), { tools, contents: history, model: /AI SDK/.test(to.title) ? '' : name });
    // Each result stands under its call's id, else reading fails.
    const { turns } = to.read(fake.requests[0]?.body ?? {});
    return turns.flatMap((turn) => turn.calls.map(({ id }) => id ?? ''));
  };
  const withIds = providers.filter(({ title }) => !/Gemini|Google/.test(title));

  test.each(withIds)('made elsewhere: distinct, the same each time, and as $title takes them', async (to) => {
    const ids = await idsOf(to, contents, 'some-model');
    expect(ids[2]).toBe('plain-1');
    expect(new Set(ids).size).toBe(3);
    for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9_-]{1,40}$/);
    expect(await idsOf(to, [user('before'), model('ok'), ...contents], 'some-model')).toEqual(ids);
  });

  test.each(withIds)('made by $title itself: as they were, whatever they look like', async (to) => {
    const own = ['functions.weather:0', `chatcmpl-tool-${'0'.repeat(40)}`];
    await using fake = await FakeProvider.start(({ body }) => {
      const [name = ''] = to.read(body).tools;
      return { body: to.answer({ calls: own.map((id) => ({ id, name })) }).stream };
    });
    const { last } = await ask(to.model(fake.url), { tools });
    fake.handler = () => ({ body: to.answer({ text: 'ok' }).stream });
    await ask(to.model(fake.url), { tools, contents: [user('a'), ...stored(last)] });
    const { turns } = to.read(fake.requests[1]?.body ?? {});
    expect(turns.flatMap((turn) => turn.calls.map(({ id }) => id))).toEqual(own);
  });

  test.each(['mistral-large-latest', 'open-mixtral-8x22b', 'mistralai/codestral-2508'])('%s: nine', async (name) => {
    const ids = await idsOf(openaiChat, contents, name);
    expect(new Set(ids).size).toBe(3);
    for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9]{9}$/);
    const fits = [user('a'), model(call('Ab3Ab3Ab3', 'weather')), user(result('Ab3Ab3Ab3', 'weather', {}))];
    expect(await idsOf(openaiChat, fits, name)).toEqual(['Ab3Ab3Ab3']);
  });
});
