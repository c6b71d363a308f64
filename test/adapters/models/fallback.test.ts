import { describe, expect, test } from 'vitest';
import type { ModelOptions } from '../../../src/adapters/models/index.ts';
import { fallbackModel, modelRegistry } from '../../../src/adapters/models/index.ts';
import type { AgentEvent } from '../../../src/contracts/index.ts';
import { createHost, LlmAgent, run } from '../../../src/index.ts';
import type { Model, ModelCallOptions, ModelResponse } from '../../../src/runtime/index.ts';
import { ScriptedModel } from '../../../src/testing/index.ts';
import { ask, request, tool } from './kit.ts';
import { anthropic, openaiChat } from './providers.ts';
import type { Handler, Reply } from './server.ts';
import { FakeProvider } from './server.ts';

const good = (text = 'from the second') => openaiChat.answer({ text }).stream;
const first = anthropic.answer({ text: 'from the first' }).stream;
const failure = (status: number, headers?: Record<string, string>): Reply => ({
  ...anthropic.error(status, 'no'),
  ...(headers ? { headers } : {}),
});
const begun = first.slice(0, first.indexOf('event: content_block_start'));

/** Two providers on sockets of their own, and one model of both. The first is Claude. */
async function two(
  claude: Handler,
  more: { claude?: ModelOptions; options?: Parameters<typeof fallbackModel>[1] } = {},
) {
  const one = await FakeProvider.start(claude);
  const other = await FakeProvider.start(() => ({ body: good() }));
  const clock = { at: 1_000_000 };
  const quiet = { retry: { sleep: async () => {} } };
  const members = [anthropic.model(one.url, { ...quiet, ...more.claude }), openaiChat.model(other.url, quiet)] as const;
  const model = fallbackModel(members, { now: () => clock.at, ...more.options });
  return {
    one,
    other,
    clock,
    model,
    members,
    async [Symbol.asyncDispose]() {
      await one[Symbol.asyncDispose]();
      await other[Symbol.asyncDispose]();
    },
  };
}

describe('the first model fails before anything was shown', () => {
  test.each<[string, Reply, string, ModelOptions?]>([
    ['429', failure(429), 'http_429'],
    ['429 with Retry-After', failure(429, { 'retry-after': '120' }), 'http_429'],
    ['529', failure(529), 'http_529'],
    ['500', failure(500), 'http_500'],
    ['a stream that begins and ends', { body: begun }, 'stream_ended'],
    ['a stream that begins and is cut', { body: begun, reset: true }, 'request_error'],
    [
      'an error inside a stream',
      { body: `${begun}event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"x"}}\n\n` },
      'overloaded_error',
    ],
    ['silence', { hang: true, body: [':\n\n'] }, 'timeout', { timeoutMs: 400 }],
    ['silence after the start', { hang: true, body: [begun] }, 'timeout', { timeoutMs: 400 }],
    ['what is no JSON', { body: 'event: message_start\ndata: {"type":"mess\n\n' }, 'bad_response'],
  ])(
    'FALL-1 %s: the second answers, once; the first rests, and is asked again later',
    async (_, reply, code, claude) => {
      await using at = await two(() => reply, claude ? { claude } : {});
      const { last, text, frames } = await ask(at.model);
      expect(text).toBe('from the second');
      expect(last).toMatchObject({
        finishReason: 'stop',
        model: 'gpt-test-1',
        tried: [{ model: 'claude-test', errorCode: code }],
      });
      // What the first was charged counts where its provider has said so: not of what it refused, nor of what it kept silent about.
      const isTold = 'body' in reply && JSON.stringify(reply.body).includes('message_start') && code !== 'bad_response';
      expect(last.usage).toMatchObject({ inputTokens: isTold ? 24 : 12 });
      const isUnknown = code === 'timeout' && !isTold;
      expect(last.tried?.map(({ unreported }) => unreported)).toEqual([isUnknown ? { inputTokens: 9 } : undefined]);
      expect(last.content?.parts).toEqual([{ type: 'text', text: 'from the second' }]);
      expect(frames.filter((frame) => !frame.partial)).toHaveLength(1);
      // Not even its own retries: there was another to ask.
      expect([at.one.requests.length, at.other.requests.length]).toEqual([1, 1]);
      at.one.handler = () => ({ body: first });
      expect((await ask(at.model)).last).not.toHaveProperty('tried');
      expect([at.one.requests.length, at.other.requests.length]).toEqual([1, 2]);
      at.clock.at += 30_001;
      const early = await ask(at.model);
      at.clock.at += 90_000;
      const late = await ask(at.model);
      const asked = _.includes('Retry-After')
        ? ['from the second', 'from the first']
        : ['from the first', 'from the first'];
      expect([early.text, late.text]).toEqual(asked);
    },
  );

  test('FALL-2 nobody listens', async () => {
    await using at = await two(() => ({}));
    await at.one[Symbol.asyncDispose]();
    const { last, text } = await ask(at.model);
    expect([text, last.tried]).toEqual(['from the second', [{ model: 'claude-test', errorCode: 'request_error' }]]);
    expect(last.usage).toMatchObject({ inputTokens: 12, outputTokens: 7 });
  });

  test('FALL-3 its tokens count with those of the answer, and what each has cost', async () => {
    const prices = { 'claude-test': { input: 1_000_000, output: 0 }, 'gpt-test-1': { input: 0, output: 1_000_000 } };
    const one = await FakeProvider.start(() => ({ body: begun }));
    const other = await FakeProvider.start(() => ({ body: good() }));
    const model = fallbackModel([anthropic.model(one.url, { prices }), openaiChat.model(other.url, { prices })]);
    const { last } = await ask(model);
    expect(last.usage).toMatchObject({ inputTokens: 24, outputTokens: 8, cachedReadTokens: 8, cost: { usd: 12 + 7 } });
    await one[Symbol.asyncDispose]();
    await other[Symbol.asyncDispose]();
  });
});

describe('what is no reason for another model', () => {
  test('FALL-4 something was shown: the failure is told, nothing is said twice', async () => {
    const half = first.slice(0, first.lastIndexOf('event: content_block_delta'));
    await using at = await two(() => ({ body: half, reset: true }));
    const { last, text } = await ask(at.model);
    expect('from the first'.startsWith(text) && text !== '').toBe(true);
    expect(last).toMatchObject({ errorCode: 'request_error', model: 'claude-test', usage: { inputTokens: 12 } });
    expect(at.other.requests).toHaveLength(0);
    // It rests all the same.
    expect((await ask(at.model)).text).toBe('from the second');
  });

  test.each([400, 401, 403, 404])('FALL-5 %d says what is wrong with the request or the set-up', async (status) => {
    await using at = await two(() => failure(status));
    expect((await ask(at.model)).last).toMatchObject({ errorCode: `http_${status}`, retryable: false });
    expect(at.other.requests).toHaveLength(0);
  });

  test('FALL-6 a reason that is not in the list', async () => {
    await using at = await two(() => failure(500), { options: { on: ['rate_limit'] } });
    expect((await ask(at.model)).last).toMatchObject({ errorCode: 'http_500' });
    expect(at.other.requests).toHaveLength(0);
  });

  test('FALL-7 a refusal is an answer, unless it is asked for; then its tokens count', async () => {
    const refusal = anthropic.answer({ refusal: 'I will not' }).stream;
    await using at = await two(() => ({ body: refusal }));
    expect((await ask(at.model)).last.finishReason).toBe('refusal');
    await using asked = await two(() => ({ body: refusal }), { options: { on: ['refusal'] } });
    const { last } = await ask(asked.model);
    expect(last).toMatchObject({ finishReason: 'stop', tried: [{ errorCode: 'refusal' }], usage: { inputTokens: 24 } });
    // Who refuses is well.
    expect((await ask(asked.model)).last.tried).toHaveLength(1);
  });
});

describe('who is asked', () => {
  test('FALL-8 the last one asks again by itself; where it fails too, all are named', async () => {
    await using at = await two(() => failure(529));
    at.other.handler = () => ({ ...openaiChat.error(503, 'busy') });
    const { last } = await ask(at.model);
    expect(last).toMatchObject({
      errorCode: 'http_503',
      retryable: true,
      tried: [{ model: 'claude-test', errorCode: 'http_529' }],
    });
    expect(last.errorMessage).toContain('asked before: claude-test: http_529');
    expect([at.one.requests.length, at.other.requests.length]).toEqual([1, 3]);
    // With nobody well, the one that is to come back first.
    at.one.handler = () => ({ body: first });
    at.clock.at += 1;
    expect((await ask(at.model)).text).toBe('from the first');
  });

  test('FALL-9 the one that a call names, whatever is known of it; a name of none of them is refused', async () => {
    await using at = await two(() => failure(529));
    await ask(at.model);
    at.one.handler = () => ({ body: first });
    expect((await ask(at.model, { model: 'claude-test' })).text).toBe('from the first');
    expect((await ask(at.model, { model: 'gpt-test' })).text).toBe('from the second');
    expect((await ask(at.model, { model: 'claude-test,gpt-test' })).text).toBe('from the first');
    await expect(ask(at.model, { model: 'other' })).rejects.toMatchObject({ code: 'E_NO_MODEL' });
  });

  test('FALL-10 the one that is chosen for this request', async () => {
    const choose = ({ agent }: { agent: string }) => (agent === 'scribe' ? 'gpt-test' : undefined);
    await using at = await two(() => ({ body: first }), { options: { choose } });
    expect((await ask(at.model, { agent: 'scribe' })).text).toBe('from the second');
    expect((await ask(at.model)).text).toBe('from the first');
  });

  test('FALL-11 the cheap one once the share of the limits is used; the dear one still where that fails', async () => {
    await using at = await two(() => ({ body: first }));
    const [claude, gpt] = at.members;
    const model = fallbackModel([{ model: claude, untilBudget: 0.5 }, gpt]);
    const asked = async (budgetUsed: number) => {
      const frames: ModelResponse[] = [];
      for await (const frame of model.generate(request(), {
        stream: true,
        signal: new AbortController().signal,
        budgetUsed,
      }))
        frames.push(frame);
      return frames.at(-1)?.content?.parts;
    };
    expect(await asked(0.4)).toMatchObject([{ text: 'from the first' }]);
    expect(await asked(0.5)).toMatchObject([{ text: 'from the second' }]);
    at.other.handler = () => openaiChat.error(503, 'busy');
    expect(await asked(0.9)).toMatchObject([{ text: 'from the first' }]);
  });

  test('FALL-12 a registry has lists by name and by commas, with what is asked of each name', async () => {
    await using at = await two(() => failure(529));
    const registry = modelRegistry({
      anthropic: { apiKey: 'sk-0123456789', baseUrl: at.one.url },
      providers: {
        local: { api: 'openai', baseUrl: `${at.other.url}/v1` },
        own: (name) => new ScriptedModel({ name, strict: false }),
      },
      lists: { main: ['claude-test', 'local/gpt-test'], once: { models: ['claude-test', 'own/x'], on: ['timeout'] } },
    });
    const main = registry.findModel('main');
    expect(registry.findModel('main')).toBe(main);
    expect((await ask(main, { model: 'main' })).last).toMatchObject({
      model: 'gpt-test-1',
      tried: [{ model: 'claude-test' }],
    });
    expect(at.other.requests[0]?.body.model).toBe('gpt-test');
    expect((await ask(registry.findModel('claude-test,local/gpt-test'))).last.tried).toBeUndefined();
    expect((await ask(registry.findModel('own/x'))).last.content?.parts).toHaveLength(1);
    expect((await ask(registry.findModel('once'), { model: 'once' })).last.model).toBe('x');
    expect(() => registry.findModel('claude-test,nobody/x')).toThrow(expect.objectContaining({ code: 'E_NO_MODEL' }));
    expect(registry.models('claude-test,nobody/x')).toBeUndefined();
  });

  test('FALL-13 what is no list of models is refused when it is given', () => {
    const model = new ScriptedModel([]);
    for (const wrong of [
      () => fallbackModel([]),
      () => fallbackModel(['gpt-5' as never]),
      () => fallbackModel([{ model, untilBudjet: 1 } as never]),
      () => fallbackModel([model], { on: ['rain' as never] }),
      () => fallbackModel([model], { coolDown: 1 } as never),
      () => modelRegistry({ lists: { main: [] } }),
      () => modelRegistry({ lists: { main: { models: ['a'], hedge: 1 } as never } }),
    ])
      expect(wrong).toThrow(expect.objectContaining({ code: 'E_BAD_INPUT' }));
  });
});

describe('a rival after a time of silence', () => {
  test('FALL-14 who speaks first answers; the other is given up, and of what it costs there is an estimate', async () => {
    await using at = await two(() => ({ hang: true, body: [':\n\n'] }), { options: { hedgeAfterMs: 5 } });
    const { last, text } = await ask(at.model, { systemInstruction: 'Be brief.', tools: new Map([tool('look')]) });
    expect([text, last.tried]).toEqual([
      'from the second',
      [{ model: 'claude-test', errorCode: 'abandoned', unreported: { inputTokens: expect.any(Number) } }],
    ]);
    expect(last.tried?.[0]?.unreported?.inputTokens).toBeGreaterThan(20);
    expect(last.usage).toMatchObject({ inputTokens: 12, outputTokens: 7 });
    await at.one.abandoned;
  });

  test('FALL-22 what its provider has reported by then counts, with its price, for the limits of the turn, too', async () => {
    const prices = { 'claude-test': { input: 1_000_000, output: 0 }, 'gpt-test-1': { input: 0, output: 1_000_000 } };
    await using at = await two(() => ({ hang: true, body: [begun] }), { claude: { prices } });
    const [claude] = at.members;
    let reported = Promise.withResolvers<void>();
    /** The first, and a rival that waits for what the first's provider says of its cost. */
    const watched: Model = {
      name: 'claude-test',
      async *generate(asked, options) {
        reported = Promise.withResolvers();
        const look = () => (options.meter?.read?.() ? reported.resolve() : void setImmediate(look));
        look();
        yield* claude.generate(asked, options);
      },
    };
    const gpt = openaiChat.model(at.other.url, { prices });
    const rival: Model = {
      name: 'gpt-test',
      async *generate(asked, options) {
        await reported.promise;
        yield* gpt.generate(asked, options);
      },
    };
    const model = fallbackModel([watched, rival], { hedgeAfterMs: 1 });
    const { last } = await ask(model);
    expect(last.tried).toEqual([{ model: 'claude-test', errorCode: 'abandoned' }]);
    expect(last.usage).toMatchObject({ inputTokens: 24, outputTokens: 8, cachedReadTokens: 8, cost: { usd: 12 + 7 } });
    const host = createHost({ app: 'shop', agents: [new LlmAgent({ name: 'bot', model })] });
    const { usage } = await run(await host.open('bot'), 'go');
    expect(usage).toMatchObject({ inputTokens: 24, cost: { usd: 19 } });
  });

  test('FALL-23 a list within a list reports what those cost that it had begun', async () => {
    const silent: Model = {
      name: 'silent',
      async *generate(_, { signal, meter }) {
        if (meter) meter.read = () => ({ inputTokens: 5 });
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      },
    };
    const failing: Model = {
      name: 'failing',
      async *generate() {
        yield { errorCode: 'http_529', usage: { inputTokens: 3, outputTokens: 1 } };
      },
    };
    const inner = fallbackModel([failing, silent], { name: 'inner' });
    const outer = fallbackModel([inner, new ScriptedModel({ name: 'last', responses: ['well'] })], { hedgeAfterMs: 5 });
    const { last } = await ask(outer);
    expect(last.tried).toEqual([{ model: 'inner', errorCode: 'abandoned' }]);
    expect(last.usage).toMatchObject({ inputTokens: 8, outputTokens: 1 });
  });

  test('FALL-15 nobody gets one who speaks in time, and a failure does not wait for that time', async () => {
    await using at = await two((_, count) => (count === 1 ? { body: first } : failure(529)), {
      options: { hedgeAfterMs: 60_000 },
    });
    expect((await ask(at.model)).text).toBe('from the first');
    expect(at.other.requests).toHaveLength(0);
    expect((await ask(at.model)).text).toBe('from the second');
  });

  test('FALL-16 the rival fails: the first is waited for', async () => {
    let say: (reply: Reply) => void = () => {};
    await using at = await two(() => new Promise((resolve) => (say = resolve)), { options: { hedgeAfterMs: 1 } });
    at.other.handler = () => {
      setImmediate(() => say({ body: first }));
      return openaiChat.error(400, 'no');
    };
    const { last, text } = await ask(at.model);
    expect([text, last.tried]).toEqual(['from the first', [{ model: 'gpt-test', errorCode: 'http_400' }]]);
  });

  test('FALL-17 an abort ends both with its reason', async () => {
    const abort = new AbortController();
    const reason = new Error('enough');
    await using at = await two(() => ({ hang: true, body: [begun] }), { options: { hedgeAfterMs: 1 } });
    at.other.handler = () => {
      setImmediate(() => abort.abort(reason));
      return { hang: true, body: [':\n\n'] };
    };
    await expect(ask(at.model, {}, { signal: abort.signal })).rejects.toBe(reason);
    await Promise.all([at.one.abandoned, at.other.abandoned]);
  });
});

const isTold = (event: AgentEvent) => event.type === 'custom' && event.kind === 'metadata';

describe('in a session', () => {
  const asks = (name: string) => anthropic.answer({ thought: 'Plan.', calls: [{ id: 'c1', name, args: {} }] }).stream;

  test('FALL-18 a turn changes models between its steps and back: calls run once, each gets its own state back, clients and log are told', async () => {
    let ran = 0;
    const look = { name: 'look', description: 'looks', annotations: { readOnly: true }, execute: () => ++ran };
    await using at = await two((_, count) =>
      count === 2 ? failure(529) : { body: count === 1 ? asks('look') : first },
    );
    const host = createHost({ app: 'shop', agents: [new LlmAgent({ name: 'bot', model: at.model, tools: [look] })] });
    const session = await host.open('bot');
    const events: AgentEvent[] = [];
    const result = await run(session, 'go', { onEvent: (event) => events.push(event) });
    expect(result).toMatchObject({ reason: 'completed', text: 'from the second' });
    expect(ran).toBe(1);
    const told = { tried: [{ model: 'claude-test', errorCode: 'http_529' }] };
    expect(events.filter(isTold)).toMatchObject([{ kind: 'metadata', data: told }]);
    const stored: AgentEvent[] = [];
    for await (const event of session.events({})) if (isTold(event)) stored.push(event);
    expect(stored).toMatchObject([{ kind: 'metadata', data: told }]);
    expect(openaiChat.read(at.other.requests[0]?.body ?? {}).turns.flatMap((turn) => turn.results)).toHaveLength(1);
    expect(JSON.stringify(at.other.requests[0]?.body)).not.toContain('Plan.');
    at.clock.at += 60_000;
    expect((await run(session, 'and?')).text).toBe('from the first');
    expect(anthropic.proof.of(at.one.requests[2]?.body ?? {})).toEqual([
      { type: 'thinking', thinking: 'Plan.', signature: 'sig+/=\u00e9' },
    ]);
  });

  test('FALL-19 half an answer with a call does not run it: the other’s call does, once', async () => {
    let ran = 0;
    const look = { name: 'look', description: 'looks', annotations: { readOnly: true }, execute: () => ++ran };
    const whole = anthropic.answer({ calls: [{ id: 'c1', name: 'look', args: {} }] }).stream;
    await using at = await two(() => ({ body: whole.slice(0, whole.indexOf('event: message_delta')), reset: true }));
    at.other.handler = (_, count) => ({
      body: count === 1 ? openaiChat.answer({ calls: [{ id: 'd1', name: 'look', args: {} }] }).stream : good(),
    });
    const host = createHost({ app: 'shop', agents: [new LlmAgent({ name: 'bot', model: at.model, tools: [look] })] });
    expect(await run(await host.open('bot'), 'go')).toMatchObject({ reason: 'completed', text: 'from the second' });
    expect(ran).toBe(1);
  });

  test('FALL-20 where all fail the error has who was asked', async () => {
    await using at = await two(() => failure(529));
    at.other.handler = () => openaiChat.error(503, 'busy');
    const session = await createHost({ app: 'shop', agents: [new LlmAgent({ name: 'bot', model: at.model })] }).open(
      'bot',
    );
    const events: AgentEvent[] = [];
    await run(session, 'go', { onEvent: (event) => events.push(event) });
    expect(events.find(({ type }) => type === 'error')).toMatchObject({
      code: 'E_MODEL',
      details: { errorCode: 'http_503', tried: [{ model: 'claude-test', errorCode: 'http_529' }] },
    });
  });

  test('FALL-21 a model is told the share of the turn’s limits that is used', async () => {
    const shares: (number | undefined)[] = [];
    const script = new ScriptedModel([
      { calls: [['look']], usage: { inputTokens: 40, outputTokens: 10 } },
      { text: 'done', usage: { inputTokens: 40, outputTokens: 10 } },
    ]);
    const model: Model = {
      name: 'm',
      generate(asked, options: ModelCallOptions) {
        shares.push(options.budgetUsed);
        return script.generate(asked, options);
      },
    };
    const look = { name: 'look', description: 'looks', annotations: { readOnly: true }, execute: () => 1 };
    const host = createHost({ app: 'shop', agents: [new LlmAgent({ name: 'bot', model, tools: [look] })] });
    await run(await host.open('bot'), 'go', { limits: { tokens: 200, steps: 10 } });
    expect(shares).toEqual([0, 0.25]);
  });
});
