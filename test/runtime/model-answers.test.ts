import { describe, expect, test } from 'vitest';
import { CoxswainError } from '../../src/contracts/index.ts';
import type { LlmAgentOptions, Model, ModelResponse, RequestProcessor } from '../../src/runtime/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { bench, endOf, errorOf, llm, said, text, tool } from './kit.ts';

/** A model that gives these frames, then throws, if it is to. */
function framed(frames: ModelResponse[], error?: unknown): Model {
  return {
    name: 'framed',
    async *generate() {
      yield* frames;
      if (error !== undefined) throw error;
    },
  };
}

const piece = (words: string): ModelResponse => ({ partial: true, content: text(words) });
const thought = (words: string): ModelResponse => ({
  partial: true,
  content: { role: 'model', parts: [{ type: 'thought', thought: words }] },
});

const asking = (model: Model, options: Omit<LlmAgentOptions, 'name'> = {}) => bench(llm('bot', model, options));

describe('what a model says in pieces', () => {
  test('is shown piece by piece, each with its place among the parts', async () => {
    const call: ModelResponse = {
      partial: true,
      content: { role: 'model', parts: [{ type: 'function_call', id: 'c', name: 'f', args: {} }] },
    };
    const shared = piece('b');
    const model = framed([thought('h'), thought('m'), piece('a'), shared, call, thought('!'), { content: text('ab') }]);
    const events = await asking(model).frames('hi');
    const pieces = events.filter(({ partial }) => partial);
    expect(pieces.map(({ customMetadata }) => customMetadata?.part)).toEqual([0, 0, 1, 1, 2]);
    expect(new Set(pieces.map(({ id }) => id)).size).toBe(1);
    expect(
      pieces.every(
        (event) =>
          event.author === 'bot' &&
          !event.turnComplete &&
          event.turnId !== '' &&
          event.invocationId !== '' &&
          event.streamId !== '',
      ),
    ).toBe(true);
    expect(shared.content?.parts).toEqual([{ type: 'text', text: 'b' }]);
    const answer = events.find(({ content, partial }) => content?.role === 'model' && !partial);
    expect(answer?.id).toBe(pieces[0]?.id);
    for (const name of ['branch', 'iso', 'thread']) expect(pieces[0]).not.toHaveProperty(name);
  });

  test('and does not end stays in the log, cut off', async () => {
    const events = await asking(framed([thought('h'), thought('m'), piece('a'), piece('b')], new Error('gone'))).say(
      'hi',
    );
    const cut = events.find(({ interrupted }) => interrupted);
    expect(cut).toMatchObject({
      turnComplete: false,
      content: {
        role: 'model',
        parts: [
          { type: 'thought', thought: 'hm' },
          { type: 'text', text: 'ab' },
        ],
      },
    });
    expect(errorOf(events)).toEqual({ code: 'E_MODEL', message: 'model framed failed: gone' });
    expect(endOf(events)).toBe('failed');
    const silent = await asking(framed([], new Error('gone'))).say('hi');
    expect(silent.some(({ interrupted }) => interrupted)).toBe(false);
  });
});

describe('an answer that is none', () => {
  const failed = async (model: Model) => {
    const events = await asking(model).say('hi');
    return events.find(({ errorCode }) => errorCode !== undefined);
  };

  test('is told with what is known of it', async () => {
    expect(
      await failed(
        framed([], new CoxswainError('UNAVAILABLE', 'E_NET', 'away', { retryable: true, details: { a: 1 } })),
      ),
    ).toMatchObject({
      errorCode: 'E_NET',
      errorMessage: 'away',
      error: { status: 'UNAVAILABLE', fatal: true, retryable: true, details: { a: 1 } },
    });
    const bare = await failed(framed([], new CoxswainError('INTERNAL', 'E_X', 'broken')));
    expect(bare?.error).toStrictEqual({ status: 'INTERNAL', fatal: true, retryable: false });
    expect(await failed(framed([{ errorCode: 'http_400' }]))).toMatchObject({
      errorCode: 'E_MODEL',
      errorMessage: 'the model failed: http_400',
      error: { status: 'INTERNAL', fatal: true, retryable: false, details: { errorCode: 'http_400' } },
    });
  });

  test.each([
    ['NETWORK_ERROR', 'UNAVAILABLE', true],
    ['made_up', 'INTERNAL', false],
  ])('but ends with %s is told as that, and nothing of it is acted upon', async (finishReason, status, retryable) => {
    let runs = 0;
    const parts = [{ type: 'function_call' as const, id: 'c', name: 'pay', args: {} }];
    const model = framed([{ content: { role: 'model', parts }, finishReason }]);
    const events = await asking(model, { tools: [tool('pay', () => runs++)] }).say('hi');
    expect(events.find(({ errorCode }) => errorCode)).toMatchObject({
      errorCode: 'E_MODEL',
      error: { status, retryable },
    });
    expect(runs).toBe(0);
  });

  test('has cost its tokens all the same', async () => {
    const usage = { inputTokens: 5 };
    const told = async (response: ModelResponse) => {
      const events = await asking(framed([response])).say('hi');
      return events.filter((event) => event.usage).map((event) => [event.usage, event.model]);
    };
    expect(await told({ errorCode: 'x', usage })).toEqual([[usage, 'framed']]);
    expect(await told({ errorCode: 'x', usage, model: 'framed-2' })).toEqual([[usage, 'framed-2']]);
    expect(await told({ errorCode: 'x' })).toEqual([]);
  });

  test('may be replaced by a hook, which sees what was asked and the error', async () => {
    const seen: unknown[] = [];
    const { say, warnings } = asking(framed([piece('ab')], new Error('gone')), {
      onModelError: (_, request, error) => {
        seen.push(request.model, (error as Error).message);
        return { content: text('instead') };
      },
    });
    const events = await say('hi');
    expect(said(events)).toEqual(['user: hi', 'bot: instead']);
    expect([seen, warnings, endOf(events)]).toEqual([['framed', 'gone'], [], 'completed']);
  });

  test('stands where the hook fails or has nothing', async () => {
    const failing = asking(framed([], new Error('gone')), {
      onModelError: () => {
        throw new Error('no');
      },
    });
    expect(errorOf(await failing.say('hi'))?.message).toContain('gone');
    expect(failing.warnings).toEqual([expect.stringContaining('on_model_error')]);
    const silent = asking(framed([], new Error('gone')), { onModelError: () => undefined });
    expect(errorOf(await silent.say('hi'))?.message).toContain('gone');
    expect(silent.warnings).toEqual([]);
  });

  test('keeps what hooks before it wrote', async () => {
    const { say, state } = asking(framed([{ errorCode: 'x' }]), {
      beforeModel: (context) => context.state.set('asked', 1) as undefined,
    });
    await say('hi');
    expect(await state()).toEqual({ asked: 1 });
    const given = asking(framed([]), {
      beforeModel: (context) => {
        context.state.set('asked', 2);
        return { errorCode: 'x' };
      },
    });
    expect(errorOf(await given.say('hi'))?.code).toBe('E_MODEL');
    expect(await given.state()).toEqual({ asked: 2 });
  });
});

describe('an answer', () => {
  const stored = async (response: ModelResponse, options: Omit<LlmAgentOptions, 'name'> = {}) => {
    const events = await asking(framed([response]), options).say('hi');
    return events.find(({ content }) => content?.role === 'model');
  };

  test('is of the model that was asked, unless it names another, and has no more than it says', async () => {
    const plain = await stored({ content: text('hello') });
    expect(plain?.model).toBe('framed');
    for (const name of [
      'usage',
      'finishReason',
      'citationMetadata',
      'groundingMetadata',
      'customMetadata',
      'interrupted',
    ])
      expect(plain).not.toHaveProperty(name);
    expect((await stored({ content: text('hello'), model: 'framed-2' }))?.model).toBe('framed-2');
    const given = await stored({}, { beforeModel: () => ({ content: text('hello'), model: 'none' }) });
    expect(given).not.toHaveProperty('model');
  });

  test('that a hook replaces says which it replaces', async () => {
    const metadata = { mine: 1 };
    const replaced = await stored(
      { content: text('hello') },
      { afterModel: () => ({ content: text('bye'), customMetadata: metadata }) },
    );
    expect(replaced?.customMetadata).toEqual({ mine: 1, replaces: expect.any(String) });
    expect(replaced?.customMetadata?.replaces).not.toBe(replaced?.id);
    expect((await stored({ content: text('hello') }, { afterModel: () => undefined }))?.customMetadata).toBeUndefined();
  });

  test.each(['refusal', 'content_filter'])(
    'that is a %s ends the turn as that, and is no output',
    async (finishReason) => {
      const { say, state } = asking(framed([{ content: text('no'), finishReason }]), { outputKey: 'out' });
      const events = await say('hi');
      expect([endOf(events), errorOf(events), await state()]).toEqual(['refusal', undefined, {}]);
      expect(events.at(-1)?.actions.end?.data).toMatchObject({ reason: 'the model refused' });
    },
  );

  test('that was cut at the limit is an answer', async () => {
    const { say, state } = asking(framed([{ content: text('half'), finishReason: 'max_tokens' }]), {
      outputKey: 'out',
    });
    expect([endOf(await say('hi')), await state()]).toEqual(['completed', { out: 'half' }]);
  });
});

describe('what makes a request', () => {
  const processor = (process: RequestProcessor['process']): RequestProcessor => ({ name: 'mine', process });
  const fails = (error: unknown) =>
    processor(() => {
      throw error;
    });

  test('that fails ends the turn by its name, or by its own code', async () => {
    const model = new ScriptedModel(['done']);
    const own = await asking(model, { processors: [fails(new Error('broken'))] }).say('hi');
    expect(errorOf(own)).toEqual({ code: 'E_HOOK_FAILED', message: 'request processor mine failed: broken' });
    const coded = await asking(model, { processors: [fails(new CoxswainError('NOT_FOUND', 'E_X', 'gone'))] }).say('hi');
    expect(errorOf(coded)).toEqual({ code: 'E_X', message: 'gone' });
    expect(model.requests).toEqual([]);
  });

  test('begins with nothing, and may take its time', async () => {
    const seen: unknown[] = [];
    const model = new ScriptedModel(['done']);
    await asking(model, {
      processors: [
        processor(async (_, draft) => {
          await null;
          seen.push({ ...draft, tools: draft.tools.size });
          draft.systemInstruction = 'be brief';
        }),
      ],
    }).say('hi');
    expect(seen).toEqual([
      { model: 'scripted', systemInstruction: '', contents: [], config: {}, tools: 0, agent: 'bot' },
    ]);
    expect(model.requests[0]?.systemInstruction).toBe('be brief');
  });
});

describe('MUT-R32 an answer that is there as the run is aborted, in a hook after the model', () => {
  const call = { type: 'function_call', id: 'c', name: 'f', args: {} } as const;
  const answered = (parts: NonNullable<ModelResponse['content']>['parts']) => {
    const controller = new AbortController();
    const afterModel = () => {
      controller.abort();
      throw new Error('gone');
    };
    const { say } = bench(llm('bot', framed([{ content: { role: 'model', parts } }]), { afterModel }));
    return say('hi', { signal: controller.signal });
  };

  test('stays in the log as far as it is words: what nobody has looked at is not called', async () => {
    const words = [{ type: 'thought', thought: 'hm' } as const, { type: 'text', text: 'Well' } as const];
    const events = await answered([...words, call]);
    const cut = events.filter(({ interrupted }) => interrupted);
    expect(cut.map(({ content }) => content?.parts)).toEqual([words]);
    expect(endOf(events)).toBe('aborted');
  });

  test('is nothing without words', async () => {
    const events = await answered([call]);
    expect(events.filter(({ content }) => content?.role === 'model')).toEqual([]);
    expect(endOf(events)).toBe('aborted');
  });
});
