import { describe, expect, test } from 'vitest';
import type { Model, ModelResponse } from '../../../src/runtime/index.ts';
import type { ModelUnderTest } from '../../suites/model.ts';
import { ask, fetchOf, tool } from './kit.ts';
import { providers } from './providers.ts';
import { FakeProvider } from './server.ts';

const said = {
  thought: 'Hé.',
  text: 'ü太🚣🏽',
  calls: [
    { id: 'c1', name: 'weather', args: { c: 'ü"x' } },
    { id: 'c2', name: 'time' },
  ],
};
const tools = new Map([tool('weather'), tool('time')]);
const bytesOf = (text: string) => new TextEncoder().encode(text);

/** One client for all streams of a provider: what is tried thousands of times is the decoder. */
const clients = new Map<ModelUnderTest, { model: Model; answer: typeof fetch }>();

async function framesOf(under: ModelUnderTest, pieces: Uint8Array[]): Promise<ModelResponse[]> {
  let client = clients.get(under);
  if (!client) {
    const made = { answer: fetchOf([]) };
    const model = under.model('http://fake.invalid', { fetch: (...request) => made.answer(...request) });
    client = Object.assign(made, { model });
    clients.set(under, client);
  }
  client.answer = fetchOf(pieces);
  const { frames } = await ask(client.model, { tools });
  return frames;
}

/** Every stream that is cut in two says what the whole one says. */
async function tryEveryCut(under: ModelUnderTest, bytes: Uint8Array, whole: ModelResponse[]): Promise<void> {
  const expected = JSON.stringify(whole);
  for (let at = 1; at < bytes.length; at++) {
    const frames = await framesOf(under, [bytes.slice(0, at), bytes.slice(at)]);
    // Deep comparison of thousands of equal values is most of the time of a test.
    if (JSON.stringify(frames) !== expected) expect(frames, `cut at ${at}`).toEqual(whole);
  }
}

const spoilt: [what: string, spoil: (text: string) => string][] = [
  ['as it is', (text) => text],
  ['CRLF', (text) => text.replaceAll('\n', '\r\n')],
  ['CR', (text) => text.replaceAll('\n', '\r')],
  ['keep-alive comments between events', (text) => `: hello\n\n${text.replaceAll('\n\n', '\n\n: ping\n\n')}`],
  ['comments inside events', (text) => text.replaceAll('data: ', ': ping\ndata: ')],
  ['a byte order mark', (text) => `\ufeff${text}`],
  ['ids and retry times', (text) => text.replaceAll('data: ', 'id: 7\nretry: 10\ndata: ')],
  ['no blank line at the end', (text) => text.trimEnd()],
  ['data on several lines', (text) => text.replaceAll('data: {', 'data: {\ndata: ')],
  ['no space after the colon', (text) => text.replaceAll('data: ', 'data:')],
];

describe.each(providers)('$title', (under) => {
  const { stream } = under.answer(said);

  test.each(spoilt)('a stream with %s says the same', async (_what, spoil) => {
    expect(await framesOf(under, [bytesOf(spoil(stream))])).toEqual(await framesOf(under, [bytesOf(stream)]));
  });

  test('a stream cut at every byte gives the same frames', async () => {
    const bytes = bytesOf(stream);
    const whole = await framesOf(under, [bytes]);
    expect(whole.at(-1)?.finishReason).toBe('tool_calls');
    await tryEveryCut(under, bytes, whole);
  });

  test('a CRLF stream with comments, cut at every byte, gives the same frames', async () => {
    const bytes = bytesOf(`: hi\n\n${under.answer({ text: 'é🚣' }).stream}`.replaceAll('\n', '\r\n'));
    const whole = await framesOf(under, [bytes]);
    await tryEveryCut(under, bytes, whole);
  });

  test('a stream that comes byte by byte gives the same frames', async () => {
    const bytes = bytesOf(stream);
    const each = [...bytes].map((byte) => Uint8Array.of(byte));
    expect(await framesOf(under, each)).toEqual(await framesOf(under, [bytes]));
  });

  test('F5 a stream that ends too early, wherever, is an error, and what was shown is a prefix', async () => {
    const bytes = bytesOf(under.answer({ text: 'Hello world' }).stream);
    const whole = await framesOf(under, [bytes]);
    const full = whole.length;
    let failed = 0;
    for (let at = 1; at < bytes.length; at += 3) {
      const retry = { retries: 0 };
      const model = under.model('http://fake.invalid', { fetch: fetchOf([bytes.slice(0, at)]), retry });
      const { frames, last } = await ask(model);
      if (last.errorCode === undefined) {
        expect(last.content).toEqual(whole.at(-1)?.content);
        continue;
      }
      failed++;
      expect(last.retryable, `${last.errorCode} at ${at}`).toBe(true);
      expect(frames.slice(0, -1)).toEqual(whole.slice(0, frames.length - 1));
      expect(frames.length).toBeLessThanOrEqual(full);
    }
    expect(failed).toBeGreaterThan(bytes.length / 6);
  });

  test('F9 a reset after visible deltas is not retried: the text is there once', async () => {
    const { stream: text } = under.answer({ text: 'Hello world, again' });
    await using fake = await FakeProvider.start(() => ({ body: [text.slice(0, text.length * 0.6)], reset: true }));
    const { frames, last, text: shown } = await ask(under.model(fake.url));
    expect(last).toMatchObject({ errorCode: expect.stringMatching(/request_error|stream_ended/), retryable: true });
    expect(shown.length).toBeGreaterThan(0);
    expect('Hello world, again').toContain(shown);
    expect(frames.filter((frame) => !frame.partial)).toHaveLength(1);
    expect(fake.requests).toHaveLength(1);
  });

  test('F9 a reset before anything was shown is retried', async () => {
    const { stream: text } = under.answer({ text: 'Hello' });
    const first = { body: [': wait\n\n'], reset: true };
    await using fake = await FakeProvider.start((_request, count) => (count === 1 ? first : { body: text }));
    const { last, text: shown } = await ask(under.model(fake.url, { retry: { sleep: async () => {} } }));
    expect(last.content?.parts).toMatchObject([{ type: 'text', text: 'Hello' }]);
    expect(shown).toBe('Hello');
    expect(fake.requests).toHaveLength(2);
  });

  test('streamed or whole, the answer is the same', async () => {
    const { json } = under.answer(said);
    const streamed = (await framesOf(under, [bytesOf(stream)])).at(-1);
    const fetch = fetchOf([bytesOf(JSON.stringify(json))], 'application/json');
    const { last } = await ask(under.model('http://fake.invalid', { fetch }), { tools }, { stream: false });
    expect(last).toEqual(streamed);
  });
});
