import { describe, expect, test } from 'vitest';
import { modelFailureOf, ProviderFailure, redact } from '../../../src/adapters/models/content/failure.ts';
import type { Decoder } from '../../../src/adapters/models/wire/index.ts';
import { exchange } from '../../../src/adapters/models/wire/index.ts';
import { delayBefore, retryAfter } from '../../../src/adapters/models/wire/retry.ts';
import { pause } from '../../../src/gate/index.ts';
import { collect } from '../../runtime/kit.ts';
import { everyProvider as providers } from './ai-sdk-providers.ts';
import { ask } from './kit.ts';
import { FakeProvider } from './server.ts';

const passing = { code: 'http_429', message: '', retryable: true };
const now = () => Date.parse('2026-11-28T12:00:00Z');

describe('F34 how long to wait', () => {
  test.each<[string, Headers | Record<string, string>, number | undefined]>([
    ['seconds', { 'retry-after': '3' }, 3000],
    ['a fraction', { 'retry-after': '0.5' }, 500],
    ['a date', { 'retry-after': 'Sat, 28 Nov 2026 12:00:07 GMT' }, 7000],
    ['a date that has passed', { 'retry-after': 'Sat, 28 Nov 2026 11:00:00 GMT' }, 0],
    ['milliseconds', { 'retry-after-ms': '250', 'retry-after': '9' }, 250],
    ['a Headers object', new Headers({ 'Retry-After': '4' }), 4000],
    ['an object in other letters', { 'Retry-After': '4' }, 4000],
    ['nonsense', { 'retry-after': 'soon' }, undefined],
    ['nonsense with a number in it', { 'retry-after': 'in 5 minutes' }, undefined],
    ['less than nothing', { 'retry-after': '-5' }, undefined],
    ['nothing', {}, undefined],
  ])('%s', (_what, headers, expected) => {
    expect(retryAfter(headers, now)).toBe(expected);
  });

  test('beyond the cap there is no waiting', () => {
    expect(delayBefore(0, passing, { 'retry-after': '3600' }, {})).toBeUndefined();
    expect(delayBefore(0, passing, { 'retry-after': '3600' }, { maxRetryAfterMs: 3_600_000 })).toBe(3_600_000);
  });

  test('doubled, capped, and spread over the upper half', () => {
    const delays = (random: number) =>
      [0, 1, 2, 3].map((n) =>
        delayBefore(n, passing, undefined, { retries: 4, maxDelayMs: 2000, random: () => random }),
      );
    expect(delays(1)).toEqual([500, 1000, 2000, 2000]);
    expect(delays(0)).toEqual([250, 500, 1000, 1000]);
  });

  test('no more attempts, no passing failure, or the server says no', () => {
    expect(delayBefore(2, passing, undefined, {})).toBeUndefined();
    expect(delayBefore(0, { ...passing, retryable: false }, undefined, {})).toBeUndefined();
    expect(delayBefore(0, passing, { 'x-should-retry': 'false' }, {})).toBeUndefined();
  });

  test('an abort ends the wait at once with its reason; neither timer nor listener is left', async () => {
    const abort = new AbortController();
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();
    const waiting = pause(3_600_000, abort.signal);
    expect(timers()).toBe(before + 1);
    const reason = new Error('stop');
    abort.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    expect(timers()).toBe(before);
    await expect(pause(3_600_000, abort.signal)).rejects.toBe(reason);
    await pause(0, new AbortController().signal);
  });
});

describe('CMP-15 a fault of the adapter is none of the provider', () => {
  const answers = (decoder: Partial<Decoder<unknown>>, open: () => Promise<object>) => {
    let attempts = 0;
    const frames = exchange<unknown, Decoder<unknown>>(
      {
        provider: 'acme',
        model: 'm',
        options: { retry: { retries: 5, sleep: async () => {} } },
        namedEvents: false,
        decoder: () => ({ push: () => undefined, finish: () => ({}), usage: () => undefined, ...decoder }),
        open: (wire) => {
          attempts++;
          return wire.wait(open());
        },
      },
      { stream: false, signal: new AbortController().signal },
    );
    return collect(frames).then((all) => ({ last: all.at(-1), attempts }));
  };
  const broken = (): never => (undefined as unknown as { x: never }).x;

  test.each([
    ['reading a chunk', { push: broken }],
    ['finishing an answer', { finish: broken }],
  ])('%s', async (_, decoder) => {
    const { last, attempts } = await answers(decoder, async () => ({}));
    expect(attempts).toBe(1);
    expect(last).toMatchObject({ errorCode: 'adapter_error', retryable: false });
    expect(last?.errorMessage).toContain('the adapter of acme failed to read the answer: Cannot read properties');
  });

  test('what the provider does is tried again, as before', async () => {
    const { last, attempts } = await answers({}, () => Promise.reject(new TypeError('fetch failed')));
    expect([attempts, last?.retryable]).toEqual([6, true]);
  });

  test('CMP-16 an answer whose tokens are of a failed attempt as well says so', async () => {
    let attempt = 0;
    const decoder: Partial<Decoder<unknown>> = {
      push: () => {
        if (++attempt === 1) throw new ProviderFailure('stream_ended', 'cut', true);
        return undefined;
      },
      usage: () => ({ inputTokens: 10 }),
      finish: () => ({ usage: { inputTokens: 10 } }),
    };
    const { last } = await answers(decoder, async () => ({}));
    expect(last).toEqual({ usage: { inputTokens: 20 }, tried: [{ model: 'm', errorCode: 'stream_ended' }] });
    expect((await answers({ finish: () => ({}) }, async () => ({}))).last).toEqual({});
  });

  test('what fails before anybody was asked is not', async () => {
    let attempts = 0;
    const frames = exchange<unknown, Decoder<unknown>>(
      {
        provider: 'acme',
        model: 'm',
        options: { retry: { retries: 5, sleep: async () => {} } },
        namedEvents: false,
        decoder: () => ({ push: () => undefined, finish: () => ({}), usage: () => undefined }),
        open: async () => {
          attempts++;
          return broken();
        },
      },
      { stream: false, signal: new AbortController().signal },
    );
    const last = (await collect(frames)).at(-1);
    expect([attempts, last?.errorCode, last?.retryable]).toEqual([1, 'request_error', false]);
  });
});

describe.each(providers)('$title', (under) => {
  const limited = (retryAfter: string) => ({ ...under.error(429, 'slow'), headers: { 'retry-after': retryAfter } });

  test('F34 Retry-After beyond the cap fails now', async () => {
    await using fake = await FakeProvider.start(() => limited('3600'));
    const { last } = await ask(under.model(fake.url));
    expect(last).toMatchObject({ errorCode: 'http_429', retryable: true });
    expect(fake.requests).toHaveLength(1);
  });

  test('F34 an abort during the wait rejects at once, and no request follows', async () => {
    const abort = new AbortController();
    const reason = new Error('stop');
    await using fake = await FakeProvider.start(() => limited('30'));
    const waits: number[] = [];
    const retry = {
      // The real wait, with an abort as soon as it has begun.
      sleep: (ms: number, signal: AbortSignal) => {
        waits.push(ms);
        queueMicrotask(() => abort.abort(reason));
        return pause(ms, signal);
      },
    };
    await expect(ask(under.model(fake.url, { retry }), {}, { signal: abort.signal })).rejects.toBe(reason);
    expect(waits).toEqual([30_000]);
    expect(fake.requests).toHaveLength(1);
  });

  test('no response in time is a passing failure', async () => {
    let answer = () => {};
    await using fake = await FakeProvider.start(async () => {
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      return {};
    });
    const { last } = await ask(under.model(fake.url, { timeoutMs: 20, retry: { retries: 0 } }));
    answer();
    expect(last).toMatchObject({ errorCode: 'timeout', retryable: true });
  });
});

describe('failures', () => {
  test('Gemini says in the body how long to wait', () => {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.5s' }];
    const message = JSON.stringify({ error: { code: 429, message: 'quota', status: 'RESOURCE_EXHAUSTED', details } });
    const thrown = Object.assign(new Error(message), { name: 'ApiError', status: 429 });
    expect(modelFailureOf(thrown)).toEqual({ code: 'http_429', message: 'quota', retryable: true, waitMs: 34_500 });
  });

  test('secrets are not repeated', () => {
    const text = 'key hunter2hunter2 and sk-proj-abc_123*xyz, AIzaSyA1234567, Bearer abc.def, ?key=zzzz&x=1';
    const clean = redact(text, ['hunter2hunter2']);
    for (const secret of ['hunter2', 'proj-abc', 'AIzaSy', 'abc.def', 'zzzz']) expect(clean).not.toContain(secret);
    expect(clean).toContain('x=1');
    expect(redact('y'.repeat(5000), []).length).toBeLessThan(700);
  });
});
