import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ModelOptions } from '../../src/adapters/models/index.ts';
import type { ContentPart } from '../../src/contracts/index.ts';
import type { Model } from '../../src/runtime/index.ts';
import { ask, call, request, model as said, stored, tool, user } from '../adapters/models/kit.ts';
import type { Reply } from '../adapters/models/server.ts';
import { FakeProvider } from '../adapters/models/server.ts';

/** What a provider is to say, in no provider's words. */
export interface Said {
  thought?: string;
  text?: string;
  refusal?: string;
  /** `args` absent: the call comes without any. */
  calls?: readonly { id: string; name: string; args?: Record<string, unknown> }[];
  finish?: 'length';
}

/** One turn of a request as the provider's own server would read it. */
export interface WireTurn {
  role: 'user' | 'model';
  text: string;
  calls: { id: string; name: string; args: unknown }[];
  results: { id: string; text: string; isError?: boolean }[];
  images: number;
}

export interface WireRequest {
  system: string;
  tools: string[];
  temperature: unknown;
  turns: WireTurn[];
}

/** A provider's adapter with a fake of its server. */
export interface ModelUnderTest {
  title: string;
  path: RegExp;
  keyHeader: readonly [name: string, value: string];
  /** It does not tell which model has answered. */
  hidesModel?: true;
  model(url: string, options?: ModelOptions): Model;
  /** Both say the same. */
  answer(said: Said): { json: object; stream: string };
  error(status: number, message: string): { status: number; body: object };
  /** @throws Error for what the real server would refuse: a call without its result, roles that do not alternate, … */
  read(body: Record<string, unknown>): WireRequest;
  /** What of a request only the provider can have made, and what it is after the thought `Plan.` and a call. */
  proof: { of(body: Record<string, unknown>): unknown[]; expected: unknown[] };
}

const KEY = 'sk-test-secret-key';
const image: ContentPart = { type: 'media', mimeType: 'image/png', data: 'iVBORw0KGgo=' };
const weather = new Map([tool('weather', { city: { type: 'string' } }), tool('time')]);

/** What holds for every provider's model, streaming or not. */
export function describeModel(under: ModelUnderTest, stream: boolean): void {
  describe(`${under.title}, ${stream ? 'streaming' : 'not streaming'}`, () => {
    let fake: FakeProvider;
    let delays: number[];
    let model: Model;
    beforeEach(async () => {
      fake = await FakeProvider.start();
      delays = [];
      const sleep = async (ms: number) => void delays.push(ms);
      model = under.model(fake.url, { retry: { sleep, random: () => 1 } });
    });
    afterEach(() => fake[Symbol.asyncDispose]());

    const reply = (what: Said): Reply => {
      const { json, stream: text } = under.answer(what);
      return { body: stream ? text : json };
    };
    const says = (what: Said) => {
      fake.handler = () => reply(what);
    };
    const failure = (status: number, message = 'no', headers?: Record<string, string>): Reply => ({
      ...under.error(status, message),
      ...(headers ? { headers } : {}),
    });
    const read = (at = -1) => under.read(fake.requests.at(at)?.body ?? {});

    test('text: deltas as they come, then the whole; usage with what was cached', async () => {
      says({ text: 'Grüße, 太郎 🚣🏽!' });
      const { last, text, frames } = await ask(model, {}, { stream });
      expect(last).toMatchObject({
        content: { role: 'model', parts: [{ type: 'text', text: 'Grüße, 太郎 🚣🏽!' }] },
        turnComplete: true,
        finishReason: 'stop',
        ...(under.hidesModel ? {} : { model: 'gpt-test-1' }),
        usage: { inputTokens: 12, outputTokens: 7, cachedReadTokens: 4 },
      });
      expect(last.partial).toBeUndefined();
      expect(text).toBe(stream ? 'Grüße, 太郎 🚣🏽!' : '');
      expect(frames.slice(0, -1).every((frame) => frame.partial && frame.content?.parts.length === 1)).toBe(true);
      const [seen] = fake.requests;
      expect(seen?.path).toMatch(under.path);
      expect(seen?.headers[under.keyHeader[0]]).toBe(under.keyHeader[1]);
    });

    test('S0-21 S0-22 settings, instruction and tools arrive', async () => {
      says({ text: 'ok' });
      const config = { temperature: 0.25, maxOutputTokens: 99 };
      await ask(model, { config, systemInstruction: 'be brief', tools: weather }, { stream });
      expect(read()).toMatchObject({ system: 'be brief', tools: ['weather', 'time'], temperature: 0.25 });
      expect(JSON.stringify(fake.requests[0]?.body)).toContain('99');
    });

    test('thoughts are apart from the text, in front of it', async () => {
      says({ thought: 'Hm. Then.', text: 'Yes' });
      const { last, thought, text } = await ask(model, {}, { stream });
      const parts = last.content?.parts ?? [];
      expect(parts[0]).toMatchObject({ type: 'thought', thought: 'Hm. Then.' });
      expect(parts[1]).toMatchObject({ type: 'text', text: 'Yes' });
      expect([thought, text]).toEqual(stream ? ['Hm. Then.', 'Yes'] : ['', '']);
    });

    test('one call; no part of it is shown in pieces', async () => {
      says({ text: 'Let me see.', calls: [{ id: 'c1', name: 'weather', args: { city: 'Zürich' } }] });
      const { last, frames } = await ask(model, { tools: weather }, { stream });
      expect(last.finishReason).toBe('tool_calls');
      expect(last.content?.parts).toMatchObject([
        { type: 'text', text: 'Let me see.' },
        { type: 'function_call', name: 'weather', args: { city: 'Zürich' } },
      ]);
      const shown = frames.slice(0, -1).flatMap((frame) => frame.content?.parts ?? []);
      expect(shown.every((part) => part.type === 'text')).toBe(true);
    });

    test('parallel calls keep their order, and go back in one turn with all their results', async () => {
      const calls = ['Rome', 'Oslo', 'Bern'].map((city, at) => ({ id: `c${at}`, name: 'weather', args: { city } }));
      says({ calls });
      const { last } = await ask(model, { tools: weather }, { stream });
      expect(last.content?.parts).toMatchObject(calls.map(({ args }) => ({ name: 'weather', args })));
      says({ text: 'done' });
      const history = stored(last, [{ t: 1 }, { t: 2 }, { t: 3 }]);
      await ask(model, { tools: weather, contents: [user('hi'), ...history] }, { stream });
      const { turns } = read();
      expect(turns.flatMap((turn) => turn.calls.map(({ args }) => args))).toEqual(calls.map(({ args }) => args));
      expect(turns.flatMap((turn) => turn.results.map(({ text }) => JSON.parse(text) as unknown))).toEqual([
        { t: 1 },
        { t: 2 },
        { t: 3 },
      ]);
    });

    test('F3 a call without arguments has an empty object, now and when it goes back', async () => {
      says({ calls: [{ id: 'c1', name: 'time' }] });
      const { last } = await ask(model, { tools: weather }, { stream });
      expect(last.content?.parts).toMatchObject([{ type: 'function_call', name: 'time', args: {} }]);
      says({ text: 'noon' });
      await ask(model, { tools: weather, contents: [user('hi'), ...stored(last)] }, { stream });
      expect(read().turns.flatMap((turn) => turn.calls)).toMatchObject([{ name: 'time', args: {} }]);
    });

    test('an error result goes back as a result', async () => {
      says({ text: 'sorry' });
      const failed: ContentPart = {
        type: 'function_response',
        id: 'r1',
        name: 'weather',
        response: { error: 'no such city' },
        isError: true,
      };
      const contents = [user('hi'), said(call('r1', 'weather', { city: 'Oz' })), user(failed)];
      await ask(model, { tools: weather, contents }, { stream });
      expect(read().turns.flatMap((turn) => turn.results)).toMatchObject([
        { text: expect.stringContaining('no such city') },
      ]);
    });

    test('an image goes in, beside text and beside a result', async () => {
      says({ text: 'a cat' });
      await ask(model, { contents: [user('what is this?', image)] }, { stream });
      expect(read().turns).toMatchObject([{ role: 'user', text: 'what is this?', images: 1 }]);
      const shot: ContentPart = {
        type: 'function_response',
        id: 'r1',
        name: 'shot',
        response: { ok: 1 },
        content: [image as never],
      };
      await ask(model, { contents: [user('look'), said(call('r1', 'shot')), user(shot)] }, { stream });
      expect(JSON.stringify(fake.requests.at(-1)?.body)).toContain('iVBORw0KGgo=');
      read();
    });

    test('CASE-F2 IOP-S1 a picture that a result repeats in its value and in its words goes in once, as a picture', async () => {
      says({ text: 'a cat' });
      const data = Buffer.alloc(300, 7).toString('base64');
      const picture = { type: 'media', mimeType: 'image/png', data } as const;
      const forms = [
        { mime: 'image/png', data },
        { content: [{ type: 'image', mimeType: 'image/png', data: `data:image/png;base64,${data}` }] },
      ];
      for (const response of forms) {
        const words = { type: 'text', text: JSON.stringify({ data }, null, 2) } as const;
        const shot: ContentPart = {
          type: 'function_response',
          id: 'r1',
          name: 'shot',
          response,
          content: [words, picture],
        };
        const before = JSON.stringify(shot);
        await ask(model, { contents: [user('look'), said(call('r1', 'shot')), user(shot)] }, { stream });
        const sent = JSON.stringify(fake.requests.at(-1)?.body);
        expect(sent.split(data)).toHaveLength(2);
        expect(sent).toContain('[image/png: a part of its own]');
        expect(JSON.stringify(shot)).toBe(before);
      }
    });

    test('S3-71 a refusal is a finish reason, not an error', async () => {
      says({ refusal: 'I will not' });
      const { last } = await ask(model, {}, { stream });
      expect(last.errorCode).toBeUndefined();
      expect(['refusal', 'safety']).toContain(last.finishReason);
    });

    test('F6 an empty answer that ended well is an answer, and leaves no empty turn behind', async () => {
      says({ text: '' });
      const { last, frames } = await ask(model, {}, { stream });
      expect(last).toMatchObject({ finishReason: 'stop', content: { parts: [] } });
      expect(last.errorCode).toBeUndefined();
      expect(frames).toHaveLength(1);
      says({ text: 'hello' });
      const empty = { role: 'model' as const, parts: [] };
      await ask(model, { contents: [user('a'), empty, user('b')] }, { stream });
      expect(read().turns).toMatchObject([{ role: 'user', text: 'ab' }]);
    });

    test('F8 an answer cut at the output limit says so', async () => {
      says({ calls: [{ id: 'c1', name: 'weather', args: { city: 'a' } }], finish: 'length' });
      const { last } = await ask(model, { tools: weather }, { stream });
      expect(last.finishReason).toBe('length');
    });

    test('S0-65 429, then success: waits as told, and the answer is whole', async () => {
      const good = reply({ text: 'Hello' });
      fake.handler = (_request, count) => (count === 1 ? failure(429, 'slow down', { 'retry-after': '7' }) : good);
      const { last, text } = await ask(model, {}, { stream });
      expect(last.content?.parts).toMatchObject([{ type: 'text', text: 'Hello' }]);
      expect(text).toBe(stream ? 'Hello' : '');
      expect(delays).toEqual([7000]);
      expect(fake.requests).toHaveLength(2);
    });

    test('S0-65 500 for ever: three attempts, then an error frame that names the status and no secret', async () => {
      fake.handler = () => failure(500, `key ${KEY} broke`);
      const { last, frames } = await ask(model, {}, { stream });
      expect(last).toMatchObject({ errorCode: 'http_500', retryable: true });
      expect(last.errorMessage).toContain('broke');
      expect(JSON.stringify(frames)).not.toContain(KEY);
      expect(fake.requests).toHaveLength(3);
      expect(delays).toEqual([500, 1000]);
    });

    test.each([400, 401, 403, 404])('S0-65 %d is not tried again', async (status) => {
      fake.handler = () => failure(status);
      const { last } = await ask(model, {}, { stream });
      expect(last).toMatchObject({ errorCode: `http_${status}`, retryable: false });
      expect(fake.requests).toHaveLength(1);
    });

    test('S0-65 nobody listens: request_error', async () => {
      const { url } = fake;
      await fake[Symbol.asyncDispose]();
      const sleep = async (ms: number) => void delays.push(ms);
      const { last } = await ask(under.model(url, { retry: { sleep } }), {}, { stream });
      expect(last).toMatchObject({ errorCode: 'request_error', retryable: true });
      expect(delays).toHaveLength(2);
      fake = await FakeProvider.start();
    });

    test('F34 F35 an abort before the answer is complete rejects with its reason and frees the socket', async () => {
      const { stream: text } = under.answer({ text: 'Hello world, this is long' });
      const abort = new AbortController();
      const reason = new Error('stop');
      const outcome = (async () => {
        const frames = model.generate(request(), { stream, signal: abort.signal });
        // Streaming: as soon as something was said.
        for await (const frame of frames) if (frame.partial) abort.abort(reason);
      })().catch((error: unknown) => error);
      fake.handler = () => {
        if (!stream) setImmediate(() => abort.abort(reason));
        return { body: [text.slice(0, Math.floor(text.length / 2))], hang: true };
      };
      expect(await outcome).toBe(reason);
      await fake.abandoned;
      expect(fake.requests).toHaveLength(1);
    });

    test('F35 a consumer that leaves frees the socket', async () => {
      if (!stream) return;
      const { stream: text } = under.answer({ text: 'Hello world, this is long' });
      fake.handler = () => ({ body: [text.slice(0, Math.floor(text.length / 2))], hang: true });
      for await (const frame of model.generate(request(), { stream, signal: new AbortController().signal })) {
        if (frame.partial) break;
      }
      await fake.abandoned;
    });

    test('an abort before the call makes no request', async () => {
      const reason = new Error('no');
      await expect(ask(model, {}, { stream, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
      expect(fake.requests).toHaveLength(0);
    });

    test('F7 the history goes back byte for byte, also through JSON', async () => {
      says({
        thought: 'Plan.',
        text: 'Looking.',
        calls: [{ id: 'c1', name: 'weather', args: { city: 'Rome', n: 1.5 } }],
      });
      const first = await ask(model, { tools: weather }, { stream });
      says({ text: 'Sunny' });
      const history = [user('hi'), ...stored(first.last, [{ t: 20 }])];
      await ask(model, { tools: weather, contents: history }, { stream });
      const again = JSON.parse(JSON.stringify(history)) as typeof history;
      await ask(model, { tools: weather, contents: again }, { stream });
      const [, second, third] = fake.requests.map(({ body }) => JSON.stringify(body));
      expect(third).toBe(second);
      read();
      expect(under.proof.of(fake.requests.at(-1)?.body ?? {})).toEqual(under.proof.expected);
    });
  });
}
