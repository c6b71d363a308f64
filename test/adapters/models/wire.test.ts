import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { modelFromEnv } from '../../../src/adapters/models/index.ts';
import type { ModelResponse } from '../../../src/runtime/index.ts';
import { ask, fetchOf, never, request } from './kit.ts';
import { providers } from './providers.ts';
import { FakeProvider } from './server.ts';

const run = promisify(execFile);
const once = { retry: { retries: 0 } };

describe.each(providers)('the way to $title', (under) => {
  const hello = under.answer({ text: 'Hello world, this is long' });

  test.each([true, false])('a response that stalls on its way is a time-out, streaming: %s', async (stream) => {
    const text = stream ? hello.stream : JSON.stringify(hello.json);
    const begun = new TextEncoder().encode(text.slice(0, text.length * 0.6));
    const type = stream ? 'text/event-stream' : 'application/json';
    let given = false;
    const fetch: typeof globalThis.fetch = async (_input, init) => {
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          controller.enqueue(begun);
          init?.signal?.addEventListener('abort', () => {
            given = true;
            controller.error(init.signal?.reason);
          });
        },
      });
      return new Response(body, { headers: { 'content-type': type } });
    };
    const model = under.model('http://fake.invalid', { fetch, timeoutMs: 30, ...once });
    const { last, text: shown } = await ask(model, {}, { stream });
    expect(last).toMatchObject({ errorCode: 'timeout', retryable: true });
    expect([shown.length > 0, given]).toEqual([stream, true]);
  });

  test('a slow reader is no slow server', async () => {
    const pieces = hello.stream.split(/(?<=\n\n)/).map((event) => new TextEncoder().encode(event));
    const model = under.model('http://fake.invalid', { fetch: fetchOf(pieces), timeoutMs: 30, ...once });
    let last: ModelResponse | undefined;
    for await (const frame of model.generate(request(), { stream: true, signal: never })) {
      if (!last) await new Promise((resolve) => setTimeout(resolve, 60));
      last = frame;
    }
    expect(last).toMatchObject({ finishReason: 'stop' });
  });

  test.each([Number.POSITIVE_INFINITY, 2 ** 40, 0])('timeoutMs of %d does not end at once', async (timeoutMs) => {
    await using fake = await FakeProvider.start(async () => {
      await new Promise((resolve) => setTimeout(resolve, 10));
      return { body: hello.stream };
    });
    expect((await ask(under.model(fake.url, { timeoutMs, ...once }))).last.finishReason).toBe('stop');
  });

  test.each([301, 302, 307, 308])('a redirect (%d) is not followed: the key stays', async (status) => {
    await using elsewhere = await FakeProvider.start(() => ({ body: hello.stream }));
    const location = `${elsewhere.url.replace('127.0.0.1', 'localhost')}/x?token=abcdefgh`;
    await using fake = await FakeProvider.start(() => ({ status, headers: { location } }));
    const { last } = await ask(under.model(fake.url));
    expect(last).toMatchObject({ errorCode: `http_${status}`, retryable: false });
    expect(last.errorMessage).toMatch(/redirects to http:\/\/localhost:\d+, .*baseUrl/);
    expect([fake.requests.length, elsewhere.requests.length]).toEqual([1, 0]);
  });

  test.each<[string, string]>([
    ['no scheme', 'localhost:11434'],
    ['no address', 'not a url'],
    ['nothing', ''],
    ['another scheme', 'ftp://x'],
    ['credentials', 'http://user:hunter2pass@127.0.0.1'],
  ])('a base address with %s is refused when the model is made, and nothing secret is repeated', (_what, url) => {
    // As it is given, without what the suite puts behind it.
    const make = () => under.model('http://fake.invalid', { baseUrl: url });
    expect(make).toThrow(expect.objectContaining({ status: 'FAILED_PRECONDITION', code: 'E_MODEL_SETUP' }));
    expect(make).not.toThrow(/hunter2pass/);
  });

  test('so is a key that no header can carry', () => {
    const make = () => under.model('http://fake.invalid', { apiKey: 'hunter2hunter2\n' });
    expect(make).toThrow(expect.objectContaining({ code: 'E_MODEL_SETUP' }));
    expect(make).not.toThrow(/hunter2/);
  });

  test.each<[string, boolean, number, string, string?]>([
    ['a line without end', true, 200, 'data: {"x":"'],
    ['MUT-A7 an event of lines without end', true, 200, 'data: 1\n', 'data: '],
    ['an event without end', true, 200, 'data: 1\ndata: '],
    ['JSON without end where a stream was asked for', true, 200, '{"x":"'],
    ['a response without end', false, 200, '{"x":"'],
    ['an error without end', true, 500, '{"error":"'],
  ])('%s is given up', async (_what, stream, status, start, line) => {
    const text = 'x'.repeat(1024 * 1024);
    const more = new TextEncoder().encode(line === undefined ? text : `${line}${text}\n`);
    let sent = 0;
    let given: unknown;
    const fetch: typeof globalThis.fetch = async (_input, init) => {
      init?.signal?.addEventListener('abort', () => {
        given = init.signal?.reason;
      });
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          controller.enqueue(sent++ === 0 ? new TextEncoder().encode(start) : more);
          if (sent > 60) controller.error(new Error('nobody stopped it'));
        },
      });
      const type = stream && status === 200 ? 'text/event-stream' : 'application/json';
      return new Response(body, { status, headers: { 'content-type': type } });
    };
    const { last } = await ask(under.model('http://fake.invalid', { fetch, ...once }), {}, { stream });
    expect(last).toMatchObject({ errorCode: 'bad_response', retryable: false });
    expect(last.errorMessage).toContain('more than 33554432 bytes');
    expect([sent < 40, given instanceof Error]).toEqual([true, true]);
  });

  test('MUT-A6 what a provider repeats of the headers that it was sent is left out of the error', async () => {
    const secret = 'hunter2hunter2';
    await using fake = await FakeProvider.start(({ headers }) => ({
      status: 400,
      body: { error: { message: `bad key ${String(headers['x-gateway-key'])}`, code: secret } },
    }));
    const { last } = await ask(under.model(fake.url, { headers: { 'x-gateway-key': secret } }));
    expect(fake.requests[0]?.headers['x-gateway-key']).toBe(secret);
    expect(last).toMatchObject({ errorCode: 'http_400', errorMessage: expect.stringContaining('bad key') });
    expect(JSON.stringify(last)).not.toContain(secret);
  });

  test('a server without keys is sent none', async () => {
    await using fake = await FakeProvider.start(() => ({ body: hello.stream }));
    await ask(under.model(fake.url, { apiKey: undefined as never }));
    const { authorization, 'x-api-key': own, 'x-goog-api-key': google } = fake.requests[0]?.headers ?? {};
    expect([authorization, own, google]).toEqual([undefined, undefined, undefined]);
  });

  test('nobody listens: the message says what the system said', async () => {
    const fake = await FakeProvider.start();
    const { url } = fake;
    await fake[Symbol.asyncDispose]();
    expect((await ask(under.model(url, once))).last.errorMessage).toContain('ECONNREFUSED');
  });

  test("tools of the provider's own stand beside the agent's", async () => {
    await using fake = await FakeProvider.start(() => ({ body: hello.stream }));
    const search = { type: 'web_search', googleSearch: {} };
    const descriptor = { name: 'weather', description: 'd', inputSchema: { type: 'object' } };
    await ask(under.model(fake.url), { config: { tools: [search] }, tools: new Map([['weather', descriptor]]) });
    const tools = fake.requests[0]?.body?.tools as unknown[];
    expect(tools).toHaveLength(2);
    expect(JSON.stringify(tools[0])).toContain('weather');
    expect(tools[1]).toMatchObject({ googleSearch: {} });
  });
});

test('keys of the environment may have white space around them, and blank ones are none', () => {
  expect(modelFromEnv({ ANTHROPIC_API_KEY: 'sk-ant-abcdefgh\n', GEMINI_API_KEY: ' ' }).name).toBe('claude-sonnet-5');
});

test('a proxy that the environment names is used once Node is told to', async () => {
  await using fake = await FakeProvider.start(() => ({ status: 400, body: { error: { message: 'it arrived' } } }));
  const asked: string[] = [];
  const proxy = createServer();
  proxy.on('connect', ({ url = '' }, socket) => {
    asked.push(url);
    const up = connect(Number(new URL(fake.url).port), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 ok\r\n\r\n');
      up.pipe(socket).pipe(up);
    });
    for (const end of [up, socket]) end.on('error', () => {});
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const code = `
    import { openaiChatModel } from ${JSON.stringify(import.meta.resolve('../../../src/adapters/models/index.ts'))};
    const model = openaiChatModel('m', { baseUrl: 'http://models.invalid/v1', retry: { retries: 0 } });
    const request = { systemInstruction: '', contents: [], config: {}, tools: new Map(), agent: 'a' };
    const call = { stream: true, signal: new AbortController().signal };
    for await (const frame of model.generate(request, call)) console.log(frame.errorMessage);
  `;
  const HTTP_PROXY = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const saidWith = async (more: object) => {
    const env = { PATH: process.env.PATH, HTTP_PROXY, ...more };
    return (await run(process.execPath, ['--input-type=module', '-e', code], { env })).stdout;
  };
  const [without, withSwitch] = await Promise.all([saidWith({}), saidWith({ NODE_USE_ENV_PROXY: '1' })]);
  proxy.close();
  expect([asked, withSwitch]).toEqual([['models.invalid:80'], expect.stringContaining('it arrived')]);
  expect(without).toContain('request_error');
});
