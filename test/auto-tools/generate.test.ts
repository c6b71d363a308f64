import { describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  AutoToolsError,
  Chat,
  FunctionTools,
  generateContent,
  generateWithAutoTools,
} from '../../src/adapters/auto-tools/index.ts';
import type { Content } from '../../src/contracts/index.ts';
import { isCoxswainError } from '../../src/contracts/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { asks, failure, gate, scripted, weather } from './kit.ts';

const says = (role: 'user' | 'model', text: string): Content => ({ role, parts: [{ type: 'text', text }] });

describe('generateWithAutoTools', () => {
  test('S1-01 a text is what the user says', async () => {
    const model = scripted('hello');
    await generateWithAutoTools('hi there', { model });
    expect(model.requests[0]?.contents).toEqual([says('user', 'hi there')]);
  });

  test('S1-01 a list is the history', async () => {
    const model = scripted('third');
    const history = [says('user', 'one'), says('model', 'two'), says('user', 'three')];
    const { chat } = await generateWithAutoTools(history, { model });
    expect(model.requests[0]?.contents).toEqual(history);
    expect(chat.history).toEqual([...history, says('model', 'third')]);
  });

  test('S1-02 S1-05 without calls that answer comes back, after one model call', async () => {
    const model = scripted({ text: 'hello', usage: { inputTokens: 3, outputTokens: 1 } });
    const response = await generateWithAutoTools('hi', { model });
    expect(response).toMatchObject({ text: 'hello', finishReason: 'stop', steps: 1, usage: { inputTokens: 3 } });
    expect(response.content).toEqual(says('model', 'hello'));
    model.assertUsedUp();
  });

  test('S1-03 S1-05 S1-11 the call goes into the history, its result after it, and the model is asked again', async () => {
    const { tools, ran } = weather();
    const usage = { inputTokens: 10, outputTokens: 2 };
    const model = scripted({ calls: [['weather', { city: 'Rome' }]], usage }, { text: 'It is sunny.', usage });
    const { text, content, steps, usage: spent, chat } = await generateWithAutoTools('Rome?', { model, tools });
    expect(ran).toEqual(['Rome']);
    expect([text, steps, content]).toEqual(['It is sunny.', 2, says('model', 'It is sunny.')]);
    expect(spent).toEqual({ inputTokens: 20, outputTokens: 4 });
    const [, called, answered] = model.requests[1]?.contents ?? [];
    expect(called).toMatchObject({
      role: 'model',
      parts: [{ type: 'function_call', name: 'weather', args: { city: 'Rome' } }],
    });
    const response = { type: 'function_response', name: 'weather', response: { content: 'sunny in Rome' } };
    expect(answered).toMatchObject({ role: 'user', parts: [response] });
    expect(chat.history).toHaveLength(4);
    expect(chat.openCalls).toEqual([]);
  });

  test('S1-04 ten model calls and no more, then an error that has everything', async () => {
    const { tools, ran } = weather();
    const model = scripted(...Array.from({ length: 11 }, (_, n) => asks(`c${n}`)));
    const error = await failure(generateWithAutoTools('go', { model, tools }));
    expect(error).toBeInstanceOf(AutoToolsError);
    expect(isCoxswainError(error)).toBe(true);
    expect(error).toMatchObject({
      code: 'E_MAX_LLM_CALLS',
      status: 'RESOURCE_EXHAUSTED',
      details: { reason: 'turn_limit_exceeded', turnLimit: 10 },
    });
    expect(error.message).toMatch(/^Maximum tool-calling turns exceeded/);
    expect(model.requests).toHaveLength(10);
    // The last round's tools have run too: what they did is in the history.
    expect(ran).toHaveLength(10);
    const { chat } = error as unknown as AutoToolsError;
    expect(chat.history).toHaveLength(21);
    expect(chat.openCalls).toEqual([]);
    expect(JSON.stringify(error)).not.toContain('sunny');
    const { text } = await generateWithAutoTools(chat, { model: scripted('done'), tools });
    expect(text).toBe('done');
  });

  test.each([
    [1, 1],
    [5, 5],
    [0, 0],
    [30, 30],
  ])('S1-04 turnLimit %d: %d model calls', async (turnLimit, calls) => {
    const { tools } = weather();
    const model = new ScriptedModel({ responses: Array.from({ length: 40 }, () => asks('x')) });
    const error = await failure(generateWithAutoTools('go', { model, tools, turnLimit }));
    expect(error.code).toBe('E_MAX_LLM_CALLS');
    expect(model.requests).toHaveLength(calls);
    expect((error as unknown as AutoToolsError).chat.history[0]).toEqual(says('user', 'go'));
  });

  test('S1-04 an answer within the limit is an answer', async () => {
    const { tools } = weather();
    const { text } = await generateWithAutoTools('go', { model: scripted(asks('a'), 'done'), tools, turnLimit: 2 });
    expect(text).toBe('done');
  });

  test('S1-07 S1-08 calls of one round run side by side and are answered in one turn, in their order', async () => {
    const all = gate();
    let running = 0;
    const { tools } = weather(async ({ city }) => {
      // Nobody ends before all have begun.
      if (++running === 3) all.open();
      await all.opened;
      return city;
    });
    const calls = ['a', 'b', 'c'].map((city) => ['weather', { city }] as const);
    const model = scripted({ calls }, 'done');
    await generateWithAutoTools('go', { model, tools });
    const answered = model.requests[1]?.contents.at(-1);
    expect(answered?.parts).toMatchObject(['a', 'b', 'c'].map((content) => ({ response: { content } })));
    expect(model.requests[1]?.contents).toHaveLength(3);
  });

  test('S1-08 a call that takes too long is told to the model, and the others are not held up', async () => {
    const stuck = gate();
    const { tools } = weather(({ city }) => (city === 'slow' ? stuck.opened : city));
    const calls = [['weather', { city: 'slow' }] as const, ['weather', { city: 'fast' }] as const];
    const model = scripted({ calls }, 'done');
    await generateWithAutoTools('go', { model, tools, toolTimeoutMs: 20 });
    const parts = model.requests[1]?.contents.at(-1)?.parts;
    expect(parts).toMatchObject([{ isError: true, errorType: 'timeout' }, { response: { content: 'fast' } }]);
    stuck.open();
  });

  test('S1-08 thirty seconds are what a call has by default', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const begun = gate();
      const { tools } = weather(() => {
        begun.open();
        return new Promise(() => {});
      });
      const model = scripted(asks('x'), 'done');
      const response = generateWithAutoTools('go', { model, tools });
      await begun.opened;
      await vi.advanceTimersByTimeAsync(29_999);
      expect(model.requests).toHaveLength(1);
      await vi.advanceTimersByTimeAsync(1);
      expect((await response).text).toBe('done');
      expect(JSON.stringify(model.requests[1]?.contents)).toContain('no result within 30000 ms');
    } finally {
      vi.useRealTimers();
    }
  });

  test('S1-09 one tool that fails ends nothing: siblings and loop go on', async () => {
    const { tools, ran } = weather(({ city }) => {
      if (city === 'bad') throw new Error('no such city');
      return city;
    });
    const model = scripted(
      {
        calls: [
          ['weather', { city: 'bad' }],
          ['weather', { city: 'b' }],
          ['nothing', {}],
        ],
      },
      'done',
    );
    const { text } = await generateWithAutoTools('go', { model, tools });
    expect([text, ran]).toEqual(['done', ['bad', 'b']]);
    expect(model.requests[1]?.contents.at(-1)?.parts).toMatchObject([
      { isError: true, response: { error: 'no such city' } },
      { response: { content: 'b' } },
      { isError: true, errorType: 'not_found', response: { error: expect.stringContaining('weather') } },
    ]);
  });

  test.each<[string, () => void]>([
    [
      'throws',
      () => {
        throw new Error('bad listener');
      },
    ],
    ['rejects', () => Promise.reject(new Error('bad listener')) as unknown as undefined],
  ])('S1-13 an onPhase that %s is warned of and changes nothing', async (_what, onPhase) => {
    const warn = vi.fn();
    const { tools } = weather();
    const { text } = await generateWithAutoTools('?', { model: scripted(asks('Rome'), 'done'), tools, onPhase, warn });
    expect(text).toBe('done');
    await expect.poll(() => warn.mock.calls.length).toBe(4);
    expect(warn.mock.calls[0]?.[0]).toBe('onPhase failed: bad listener');
    const model = scripted({ errorCode: 'http_500', errorMessage: 'down' });
    const failed = await failure(generateWithAutoTools('?', { model, onPhase, warn }));
    expect(failed).toMatchObject({ code: 'E_MODEL', details: { errorCode: 'http_500' } });
  });

  const cycle: Record<string, unknown> = { name: 'round' };
  cycle.self = cycle;
  const thrower = (thrown: unknown) => () => {
    throw thrown;
  };
  const untold = {
    toString() {
      throw new Error('no words');
    },
  };
  test.each<[string, () => unknown]>([
    ['throws a string', thrower('plain words')],
    ['throws nothing', thrower(undefined)],
    ['throws null', thrower(null)],
    ['throws what cannot be put into words', thrower(untold)],
    ['throws an object without prototype', thrower(Object.create(null))],
    ['rejects with a number', () => Promise.reject(7)],
    ['returns a cycle', () => cycle],
    ['returns a BigInt', () => ({ n: 1n })],
    ['returns a function', () => () => 1],
    [
      'returns a getter that throws',
      () => ({
        get x() {
          throw new Error('no');
        },
      }),
    ],
    ['returns a thenable that throws', () => Object.fromEntries([['then', thrower(new Error('no'))]])],
    ['returns megabytes', () => 'x'.repeat(5_000_000)],
    ['returns something very deep', () => JSON.parse(`${'['.repeat(5000)}${']'.repeat(5000)}`)],
  ])('S1-09 a handler that %s is answered, its sibling too', async (_what, run) => {
    const { tools } = weather(({ city }) => (city === 'Rome' ? run() : 'sunny'));
    const calls = ['Rome', 'Oslo'].map((city) => ['weather', { city }] as const);
    const model = scripted({ calls }, 'done');
    const { text, chat } = await generateWithAutoTools('?', { model, tools });
    expect(text).toBe('done');
    const answers = model.requests[1]?.contents.at(-1)?.parts ?? [];
    expect(answers).toMatchObject([{ type: 'function_response' }, { response: { content: 'sunny' } }]);
    expect(chat.openCalls).toEqual([]);
  });

  test('NEW-D10 a model by name whose key is not in the environment: the variable is named', async () => {
    vi.stubEnv('ANTHROPIC_API_KEY', '');
    onTestFinished(() => void vi.unstubAllEnvs());
    await expect(generateWithAutoTools('hi', { model: 'claude-x' })).rejects.toMatchObject({
      code: 'E_NO_MODEL',
      message: expect.stringMatching(
        /^no provider is set up for model claude-x: set ANTHROPIC_API_KEY in the environment/,
      ),
    });
  });

  test('S1-24 settings, instruction and the model by name are passed through', async () => {
    const model = scripted('{"a":"ok"}');
    const names: string[] = [];
    const models = (name: string) => {
      names.push(name);
      return model;
    };
    await generateWithAutoTools('hi', {
      model: 'some-model',
      models,
      config: { temperature: 0.5 },
      systemInstruction: 'Say {nothing} of {{this}}.',
      outputSchema: { type: 'object', properties: { a: { type: 'string' } } },
    });
    expect(names).toEqual(['some-model']);
    expect(model.requests[0]).toMatchObject({
      config: { temperature: 0.5 },
      // No template: braces are text.
      systemInstruction: 'Say {nothing} of {{this}}.',
      outputSchema: { properties: { a: { type: 'string' } } },
    });
  });

  test('S1-25 the plain call runs nothing and gives the calls', async () => {
    const { tools, ran } = weather();
    const model = scripted(asks('Rome'));
    const response = await generateContent('hi', { model, tools });
    expect(response.finishReason).toBe('tool_calls');
    expect(response.content?.parts.at(-1)).toMatchObject({ type: 'function_call', name: 'weather' });
    expect(model.requests[0]?.tools).toEqual(['weather']);
    expect(ran).toEqual([]);
  });

  test('a refusal is an answer with its reason', async () => {
    const { text, finishReason } = await generateWithAutoTools('hi', {
      model: scripted({ parts: [{ type: 'refusal', text: 'no' }], finishReason: 'refusal' }),
    });
    expect([text, finishReason]).toEqual(['', 'refusal']);
  });

  test("a provider's failure is thrown with its code, and says whether to try again", async () => {
    const model = new ScriptedModel([{ errorCode: 'http_503', errorMessage: 'overloaded' }]);
    const error = await failure(generateWithAutoTools('hi', { model }));
    expect(error).toMatchObject({ code: 'E_MODEL', details: { errorCode: 'http_503' }, message: 'overloaded' });
    expect((error as unknown as AutoToolsError).chat.history).toEqual([says('user', 'hi')]);
  });

  test.each<[string, unknown, RegExp]>([
    ['nothing', [], /no content/],
    ['a number', 7, /a text, a list of contents, or a Chat/],
    [
      'an open call',
      [says('user', 'a'), { role: 'model', parts: [{ type: 'function_call', id: 'x', name: 'f', args: {} }] }],
      /call x of f has no result/,
    ],
  ])('E_BAD_INPUT for %s', async (_what, input, message) => {
    const error = await failure(generateWithAutoTools(input as string, { model: scripted() }));
    expect(error).toMatchObject({ code: 'E_BAD_INPUT', message: expect.stringMatching(message) });
  });

  test.each([-1, 1.5, Number.NaN])('E_BAD_INPUT for turnLimit %d', async (turnLimit) => {
    const error = await failure(generateWithAutoTools('hi', { model: scripted('x'), turnLimit }));
    expect(error).toMatchObject({ code: 'E_BAD_INPUT' });
  });

  test('a tool without a function is refused before the model is asked', async () => {
    const model = scripted('x');
    const tools = [{ name: 'f', description: 'd' }];
    expect(await failure(generateWithAutoTools('hi', { model, tools }))).toMatchObject({ code: 'E_BAD_INPUT' });
    expect(() => new FunctionTools().register({ name: 'f', description: 'd' })).toThrow(/no function/);
    expect(model.requests).toHaveLength(0);
  });

  test('a history that ends with results goes on from them', async () => {
    const chat = Chat.new()
      .addTurn('user', 'Rome?')
      .addTurn('model', [{ id: 'c1', name: 'weather', args: { city: 'Rome' } }])
      .addTurn('user', [{ callId: 'c1', name: 'weather', content: 'sunny' }]);
    const model = scripted('It is sunny.');
    const { chat: after } = await generateWithAutoTools(chat, { model });
    expect(model.requests[0]?.contents).toEqual(chat.history);
    expect(after.history).toEqual([...chat.history, says('model', 'It is sunny.')]);
  });
});

describe('nothing runs unapproved', () => {
  const denied = [{ isError: true, errorType: 'denied' }];

  test.each<[string, (() => boolean | Promise<boolean>) | undefined]>([
    ['nobody is there to ask', undefined],
    ['the answer is no', () => false],
    ['the answer is no boolean', () => 'yes' as unknown as boolean],
    ['asking fails', () => Promise.reject(new Error('lost'))],
  ])('a tool that wants approval is denied where %s', async (_why, onApproval) => {
    const run = vi.fn();
    const tools = [{ name: 'pay', description: 'pays', needsApproval: true, execute: run }];
    const model = scripted({ calls: [['pay', {}]] }, 'sorry');
    const { text } = await generateWithAutoTools('pay', {
      model,
      tools,
      warn: () => {},
      ...(onApproval ? { onApproval } : {}),
    });
    expect(text).toBe('sorry');
    expect(run).not.toHaveBeenCalled();
    expect(model.requests[1]?.contents.at(-1)?.parts).toMatchObject(denied);
  });

  test('a yes lets exactly that call run', async () => {
    const paid: unknown[] = [];
    const tools = [
      { name: 'pay', description: 'pays', needsApproval: true, execute: (args: object) => void paid.push(args) },
    ];
    const model = scripted(
      {
        calls: [
          ['pay', { sum: 5 }],
          ['pay', { sum: 7 }],
        ],
      },
      'paid',
    );
    await generateWithAutoTools('pay', { model, tools, onApproval: ({ args }) => args.sum === 5 });
    expect(paid).toEqual([{ sum: 5 }]);
    expect(model.requests[1]?.contents.at(-1)?.parts).toMatchObject([{ response: { content: '' } }, denied[0]]);
  });

  test('the policy has its say', async () => {
    const { tools, ran } = weather();
    const model = scripted({ calls: [['weather', { city: 'a' }]] }, 'ok');
    const policy = { evaluate: () => ({ outcome: 'deny' as const, reason: 'not today' }), getExcluded: () => [] };
    await generateWithAutoTools('go', { model, tools, policy });
    expect(ran).toEqual([]);
    expect(JSON.stringify(model.requests[1]?.contents)).toContain('not today');
  });

  test('an abort while somebody is asked ends at once, and nothing runs', async () => {
    const run = vi.fn();
    const asked = gate();
    const abort = new AbortController();
    const response = generateWithAutoTools('pay', {
      model: scripted({ calls: [['pay', {}]] }),
      tools: [{ name: 'pay', description: 'pays', needsApproval: true, execute: run }],
      signal: abort.signal,
      onApproval: () => {
        asked.open();
        return new Promise<boolean>(() => {});
      },
    });
    await asked.opened;
    abort.abort(new Error('enough'));
    expect(await failure(response)).toMatchObject({ code: 'E_ABORTED', message: 'enough' });
    expect(run).not.toHaveBeenCalled();
  });
});

describe('abort', () => {
  test('S1-15 during a tool: at once, with the reason; the history is whole', async () => {
    const begun = gate();
    const abort = new AbortController();
    const { tools } = weather(() => {
      begun.open();
      return new Promise(() => {});
    });
    const response = generateWithAutoTools('go', { model: scripted(asks('x')), tools, signal: abort.signal });
    await begun.opened;
    abort.abort('stop it');
    const error = (await failure(response)) as unknown as AutoToolsError;
    expect(error).toMatchObject({ code: 'E_ABORTED', message: 'stop it' });
    expect(error.chat.openCalls).toEqual([]);
    expect(error.chat.history.at(-1)?.parts).toMatchObject([{ type: 'function_response', errorType: 'interrupted' }]);
  });

  test('before anything: no model call', async () => {
    const model = scripted('x');
    expect(await failure(generateWithAutoTools('go', { model, signal: AbortSignal.abort() }))).toMatchObject({
      code: 'E_ABORTED',
    });
    expect(model.requests).toHaveLength(0);
  });
});
