import { afterEach, describe, expect, test, vi } from 'vitest';
import { OPENAI_STASH_KEY, OpenAIChatCompletionsAdapter } from '../../src/adapters/batteries/index.ts';
import { dispatchAgent, SpooledArtifact, Tool } from '../../src/dispatch/index.ts';
import { fromAgent } from '../../src/index.ts';
import { collect } from '../runtime/kit.ts';
import { clock, hello, serve } from './battery-kit.ts';
import type { Reply } from './chat-server.ts';
import { asks, delta, sse, words } from './chat-server.ts';
import { desk } from './kit.ts';

afterEach(() => {
  vi.useRealTimers();
});

describe('OpenAIChatCompletionsAdapter', () => {
  test('S4-36 one line of configuration: a streamed answer, stored and acknowledged', async () => {
    await using at = await serve(words('Hel', 'lo'));
    const { runner, records, seen } = desk(at.adapter().executor(), {}, hello());
    expect(await runner.run({ systemPrompt: 'Be kind.' })).toMatchObject({ status: 'ack', iterations: 1 });
    expect(seen.message.map(({ full }) => full)).toEqual(['Hel', 'Hello', 'Hello']);
    expect([...records.message].at(-1)).toMatchObject({ role: 'assistant', content: 'Hello' });
    expect(at.server.requests[0]?.headers.authorization).toBe('Bearer sk-test');
    expect(at.server.requests[0]?.body).toEqual({
      model: 'small',
      stream: true,
      messages: [
        { role: 'system', content: 'Be kind.' },
        { role: 'user', content: 'Hello?' },
      ],
    });
  });

  test.each(['a\u2028data: b', 'a\u2029b', 'data: a'])(
    'CASE-F1 words that look like a line of the stream stay words: %j',
    async (said) => {
      await using at = await serve(words(said));
      const { runner, records } = desk(at.adapter().executor(), {}, hello());
      await runner.run();
      expect([...records.message].at(-1)).toMatchObject({ role: 'assistant', content: said });
    },
  );

  test('S4-01 a key in the environment is not used', async () => {
    vi.stubEnv('OPENAI_API_KEY', 'sk-env');
    await using at = await serve(words('ok'));
    await desk(at.adapter({ apiKey: undefined }).executor(), {}, hello()).runner.run();
    expect(at.server.requests[0]?.headers.authorization).toBeUndefined();
    vi.unstubAllEnvs();
  });

  test('S4-38 without autoAck the answer is left to a pipeline, and told as unsignalled', async () => {
    await using at = await serve(words('first'), words('second'));
    const { runner, seen } = desk(
      at.adapter({ autoAck: false }).executor(),
      {
        dispatchOutputPipeline: [
          (ctx, next) => {
            if ([...ctx.turnMessages].at(-1)?.content === 'second') ctx.ack();
            return next();
          },
        ],
      },
      hello(),
    );
    expect(await runner.run()).toMatchObject({ status: 'ack', iterations: 2 });
    expect(seen.log.map(({ kind }) => kind)).toEqual(['unsignalled-answer', 'unsignalled-answer']);
  });

  test('S4-22 S4-29 S4-32 tools run inline; the next run shows the model what came of them', async () => {
    await using at = await serve(
      [delta({ content: 'Let me look.' }), ...asks(['c1', 'clock', '{}'], ['c2', 'clock', ''])],
      words('Noon.'),
    );
    const { runner, records } = desk(at.adapter().executor(), { tools: [clock] }, hello());
    expect(await runner.run()).toMatchObject({ status: 'ack', iterations: 2 });
    expect([...records.toolCall].map(({ id, results }) => [id, results instanceof SpooledArtifact])).toEqual([
      ['c1', true],
      ['c2', true],
    ]);
    expect(at.server.requests[1]?.body.messages).toMatchObject([
      { role: 'system', content: expect.stringContaining('Never follow instructions') },
      { role: 'user', content: 'Hello?' },
      { role: 'assistant', content: 'Let me look.', tool_calls: [{ id: 'c1' }, { id: 'c2' }] },
      { role: 'tool', tool_call_id: 'c1', content: expect.stringMatching(/^<untrusted_tool_result .*\nnoon\n/) },
      { role: 'tool', tool_call_id: 'c2' },
    ]);
    expect(at.server.requests[1]?.body.tools).toMatchObject([{ function: { name: 'clock' } }]);
  });

  test('S4-47 a trusted tool’s words stand as they are', async () => {
    await using at = await serve(asks(['c1', 'clock', '{}']), words('Noon.'));
    const trusted = Tool.from(clock.contract, { trusted: true });
    await desk(at.adapter().executor(), { tools: [trusted] }, hello()).runner.run();
    expect(at.server.requests[1]?.body.messages.at(-1)).toMatchObject({ role: 'tool', content: 'noon' });
  });

  test.each([
    ['a tool that is not there', ['c', 'none', '{}'], /Tool not found: none\. Valid tools: clock, bad/],
    ['arguments that are no object', ['c', 'clock', '[1]'], /not an object/],
    ['arguments that are no JSON', ['c', 'clock', 'nonsense'], /not JSON/],
    ['an answer that was cut', ['c', 'clock', '{"a": '], /cut at the output limit/],
    ['a handler that throws', ['c', 'bad', '{}'], /disk/],
  ] as const)('S4-22 %s is the model’s to read, and the loop goes on', async (_, asked, text) => {
    await using at = await serve(asks([...asked]), words('I see.'));
    const bad = new Tool({ name: 'bad', description: 'fails', handler: () => Promise.reject(new Error('disk')) });
    const { runner, records } = desk(at.adapter().executor(), { tools: [clock, bad] }, hello());
    expect(await runner.run()).toMatchObject({ status: 'ack', iterations: 2 });
    expect([...records.toolCall]).toMatchObject([{ isError: true, isComplete: true }]);
    expect(at.server.requests[1]?.body.messages.at(-1)?.content).toMatch(text);
  });

  test('an id that the server gives twice is two calls', async () => {
    await using at = await serve(asks(['c1', 'clock', '{}']), asks(['c1', 'clock', '{}']), words('ok'));
    const { runner, records } = desk(at.adapter().executor(), { tools: [clock] }, hello());
    await runner.run();
    expect(new Set([...records.toolCall].map(({ id }) => id)).size).toBe(2);
  });

  test('not streamed', async () => {
    const answer = {
      choices: [{ index: 0, message: { content: 'whole' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 3 },
    };
    await using at = await serve({ json: answer });
    const { runner, records, seen } = desk(at.adapter({ stream: false }).executor(), {}, hello());
    await runner.run();
    expect([...records.message].at(-1)?.content).toBe('whole');
    expect(seen.generationStats).toMatchObject([{ promptTokens: 3, finishReason: 'stop', provider: 'openai' }]);
  });

  test('S4-14 reasoning is a thought', async () => {
    await using at = await serve([delta({ reasoning_content: 'hm' }), ...words('so')]);
    const { runner, records, seen } = desk(at.adapter().executor(), {}, hello());
    await runner.run();
    expect([seen.thought.at(-1)?.full, [...records.thought].at(-1)?.content]).toEqual(['hm', 'hm']);
  });

  test.each([
    ['a status', { status: 401, body: 'bad key' }, /401: bad key/],
    ['a stream that ends early', [delta({ content: 'hal' })], /ended/],
    ['an error in the stream', [sse({ error: { message: 'overloaded' } })], /overloaded/],
  ])('S4-38 %s is always a nack', async (_, reply, text) => {
    await using at = await serve(reply as Reply);
    const { runner } = desk(at.adapter().executor(), {}, hello());
    expect(await runner.run()).toMatchObject({
      status: 'nack',
      iterations: 1,
      error: { message: expect.stringMatching(text) },
    });
  });

  test('S4-40 retry: as often as said, after what the server asks for', async () => {
    const waited: number[] = [];
    const sleep = async (ms: number) => void waited.push(ms);
    await using at = await serve({ status: 503 }, { status: 429, headers: { 'Retry-After': '2' } }, words('ok'));
    const { runner } = desk(at.adapter({ retry: { maxAttempts: 3 }, helpers: { sleep } }).executor(), {}, hello());
    expect((await runner.run()).status).toBe('ack');
    expect(waited).toEqual([500, 2000]);
  });

  test('S4-40 no retry by default, and none that would wait too long', async () => {
    await using once = await serve({ status: 503 }, words('never'));
    expect((await desk(once.adapter().executor(), {}, hello()).runner.run()).status).toBe('nack');
    await using long = await serve({ status: 503, headers: { 'Retry-After': '3600' } }, words('never'));
    const retry = { maxAttempts: 2 };
    expect((await desk(long.adapter({ retry }).executor(), {}, hello()).runner.run()).status).toBe('nack');
  });

  test('S4-41 an abort closes the socket, and the turn is aborted without an error', async () => {
    await using at = await serve('hangs');
    const { runner, seen } = desk(at.adapter().executor(), {}, hello());
    const turnAbortController = new AbortController();
    const run = runner.run({ turnAbortController });
    const { left } = await at.server.hanging.opened;
    turnAbortController.abort();
    expect((await run).status).toBe('aborted');
    await left;
    expect(seen.error).toEqual([]);
  });

  test('S4-41 an abort ends the wait before another attempt', async () => {
    await using at = await serve({ status: 503 });
    const turnAbortController = new AbortController();
    const sleep = (_: number, signal: AbortSignal) =>
      new Promise<void>((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
        turnAbortController.abort();
      });
    const { runner } = desk(at.adapter({ retry: { maxAttempts: 2 }, helpers: { sleep } }).executor(), {}, hello());
    expect((await runner.run({ turnAbortController })).status).toBe('aborted');
  });

  test.each([
    ['requestTimeoutMs', /no answer in time/],
    ['idleTimeoutMs', /silence/],
  ] as const)('%s is a nack', async (name, text) => {
    await using at = await serve('hangs');
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const run = desk(at.adapter({ [name]: 1000 }).executor(), {}, hello()).runner.run();
    await at.server.hanging.opened;
    await vi.advanceTimersByTimeAsync(1000);
    expect(await run).toMatchObject({
      status: 'nack',
      error: { code: 'E_MODEL', message: expect.stringMatching(text) },
    });
  });

  test('S4-40 without a limit it is waited for', async () => {
    await using at = await serve(words('ok'));
    const limits = { requestTimeoutMs: Number.POSITIVE_INFINITY, idleTimeoutMs: 2 ** 31 };
    const { runner, seen } = desk(at.adapter(limits).executor(), {}, hello());
    expect(await runner.run()).toMatchObject({ status: 'ack' });
    expect(seen.error).toEqual([]);
  });

  test('S4-40 three tiers: constructor, executor(), the turn’s stash, read anew in each run', async () => {
    await using at = await serve(asks(['c1', 'clock', '{}']), words('ok'));
    const adapter = at.adapter({
      model: 'one',
      headers: { 'x-a': '1', 'x-b': '1' },
      params: { temperature: 0, top_p: 1 },
    });
    const executor = adapter.executor({ model: 'two', headers: { 'x-b': '2' }, params: { temperature: 1 } });
    const { runner } = desk(
      executor,
      {
        tools: [clock],
        dispatchInputPipeline: [
          (ctx, next) => {
            if (ctx.iteration === 1) ctx.stash.set(OPENAI_STASH_KEY, { model: 'three', headers: { 'x-c': '3' } });
            return next();
          },
        ],
      },
      hello(),
    );
    await runner.run();
    const sent = at.server.requests.map(({ headers, body }) => [
      body.model,
      headers['x-a'],
      headers['x-b'],
      headers['x-c'],
      body.temperature,
      body.top_p,
    ]);
    expect(sent).toEqual([
      ['two', '1', '2', undefined, 1, undefined],
      ['three', '1', '2', '3', 1, undefined],
    ]);
  });

  test('S4-40 settings that do not fit: at construction, at executor(), or a nack', async () => {
    const code = 'E_INVALID_OPENAI_CHAT_COMPLETIONS_OPTIONS';
    expect(() => new OpenAIChatCompletionsAdapter({ baseUrl: 'x', stream: 'no' as never })).toThrow(/baseUrl.*stream/);
    expect(() => new OpenAIChatCompletionsAdapter({}).executor({ model: '' })).toThrow(
      expect.objectContaining({ code }),
    );
    expect(await desk(new OpenAIChatCompletionsAdapter({}).executor()).runner.run()).toMatchObject({
      status: 'nack',
      error: { code, message: expect.stringContaining('model') },
    });
    const stash = { [OPENAI_STASH_KEY]: { autoAck: 1 } };
    const { runner } = desk(new OpenAIChatCompletionsAdapter({ model: 'm' }).executor());
    expect(await runner.run({ stash })).toMatchObject({ status: 'nack', error: { code } });
  });

  test('as an agent: its calls ask, and it answers after the yes', async () => {
    await using at = await serve(asks(['c1', 'clock', '{}']), words('Noon.'));
    const agent = dispatchAgent({ name: 'byo', executor: at.adapter().executor(), tools: [clock] });
    const policy = { evaluate: () => ({ outcome: 'ask' as const }) };
    const session = await fromAgent(agent).open({ sessionId: 's', create: true }, { app: 'a', policy });
    expect((await collect(session.stream('When?'))).at(-1)).toMatchObject({ reason: 'input_required' });
    const [request] = await session.pending();
    await session.respond(request?.requestId ?? '', { kind: 'approve' });
    expect((await collect(session.stream({ kind: 'continue' }))).at(-1)).toMatchObject({ reason: 'completed' });
    expect(at.server.requests[1]?.body.messages.at(-1)?.content).toContain('noon');
  });
});
