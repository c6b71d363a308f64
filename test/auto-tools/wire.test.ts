import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { generateWithAutoTools, streamWithAutoTools } from '../../src/adapters/auto-tools/index.ts';
import { providers } from '../adapters/models/providers.ts';
import { FakeProvider } from '../adapters/models/server.ts';
import type { ModelUnderTest, Said } from '../suites/model.ts';
import { failure, gate, weather } from './kit.ts';

const calls = (city: string): Said => ({
  text: `looking up ${city}`,
  calls: [{ id: 'c1', name: 'weather', args: { city } }],
});

describe.each(providers)('automatic tools at $title', (under: ModelUnderTest) => {
  let fake: FakeProvider;
  const model = () => under.model(fake.url, { retry: { retries: 0 } });
  const reply = (said: Said, stream: boolean) => ({
    body: stream ? under.answer(said).stream : under.answer(said).json,
  });
  beforeEach(async () => {
    fake = await FakeProvider.start();
  });
  afterEach(() => fake[Symbol.asyncDispose]());

  test('S1-03 S1-07 S1-11 S1-24 the second request has call and result, and the settings of the first', async () => {
    const { tools } = weather();
    fake.handler = (_request, count) => reply(count === 1 ? calls('Rome') : { text: 'sunny' }, false);
    const { text } = await generateWithAutoTools('Rome?', {
      model: model(),
      tools,
      config: { temperature: 0.25 },
      systemInstruction: 'be brief',
    });
    expect(text).toBe('sunny');
    const [first, second] = fake.requests.map(({ body }) => under.read(body));
    expect([first?.temperature, second?.temperature]).toEqual([0.25, 0.25]);
    expect([first?.system, second?.system]).toEqual(['be brief', 'be brief']);
    expect(second?.turns.flatMap((turn) => turn.calls)).toMatchObject([{ name: 'weather', args: { city: 'Rome' } }]);
    expect(second?.turns.flatMap((turn) => turn.results)).toMatchObject([
      { text: expect.stringContaining('sunny in Rome') },
    ]);
  });

  test('F7 a chat goes on with what the provider wants back, though nothing of it can be changed', async () => {
    const { tools } = weather();
    const first: Said = { ...calls('Rome'), thought: 'Plan.' };
    fake.handler = (_request, count) => reply(count === 1 ? first : { text: 'sunny' }, true);
    const { response } = streamWithAutoTools('Rome?', { model: model(), tools });
    const { chat } = await response;
    await generateWithAutoTools(chat.addTurn('user', 'and now?'), { model: model(), tools }).catch(() => {});
    const [, second, third] = fake.requests.map(({ body }) => under.proof.of(body));
    expect(third?.slice(0, second?.length)).toEqual(second);
    expect(second?.length).toBeGreaterThan(0);
  });

  test('S1-16 S1-18 three rounds of tools, and only the answer is seen', async () => {
    const { tools, ran } = weather();
    fake.handler = (_request, count) =>
      reply(count <= 3 ? calls(`c${count}`) : { thought: 'hm', text: 'all sunny' }, true);
    const pieces: string[] = [];
    for await (const text of streamWithAutoTools('go', { model: model(), tools })) pieces.push(text);
    expect(pieces.join('')).toBe('all sunny');
    expect(ran).toEqual(['c1', 'c2', 'c3']);
    expect(under.read(fake.requests.at(-1)?.body ?? {}).turns.flatMap((turn) => turn.results)).toHaveLength(3);
  });

  test('S1-14 the first stream is closed before the tools run, whatever the server does with it', async () => {
    const { tools, ran } = weather(async () => {
      await expect.poll(() => fake.connections()).toBe(0);
      return 'sunny';
    });
    // A stream of Gemini has no end mark: only its end is one.
    const hang = !/gemini/i.test(under.title);
    fake.handler = (_request, count) =>
      count === 1 ? { ...reply(calls('Rome'), true), hang } : reply({ text: 'done' }, true);
    expect((await streamWithAutoTools('go', { model: model(), tools }).response).text).toBe('done');
    expect(ran).toEqual(['Rome']);
  });

  test('S1-22 a stream that breaks off in the second round: one error, no socket left open', async () => {
    const { tools } = weather();
    const { stream } = under.answer({ text: 'never to be seen' });
    fake.handler = (_request, count) =>
      count === 1 ? reply(calls('Rome'), true) : { body: [stream.slice(0, stream.length * 0.6)], reset: true };
    const shown: string[] = [];
    const running = streamWithAutoTools('go', { model: model(), tools });
    running.subscribe((event) => shown.push(event.type));
    expect(await failure(running.response)).toMatchObject({ code: 'E_MODEL', retryable: true });
    expect(shown).toEqual(['stream_error']);
    await expect.poll(() => fake.connections()).toBe(0);
  });

  test('S1-15 S1-22 an abort in mid-stream frees the socket', async () => {
    const { stream } = under.answer({ text: 'Hello world, this is long' });
    const got = gate();
    fake.handler = () => {
      got.open();
      return { body: [stream.slice(0, stream.length / 2)], hang: true };
    };
    const running = streamWithAutoTools('go', { model: model() });
    const response = failure(running.response);
    await got.opened;
    running.abort('enough');
    expect(await response).toMatchObject({ code: 'E_ABORTED', message: 'enough' });
    await fake.abandoned;
  });
});
