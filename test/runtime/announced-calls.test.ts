import { describe, expect, test } from 'vitest';
import type { AnyTool, ContentPart, FunctionCallPart } from '../../src/contracts/index.ts';
import type { LlmAgentOptions, StoredEvent } from '../../src/runtime/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { bench, llm, tool } from './kit.ts';

const hosted = { hostToolExecution: true };
const schema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } as const;

function partsOf<T extends ContentPart['type']>(events: readonly StoredEvent[], type: T) {
  const parts = events.flatMap(({ content }) => content?.parts ?? []);
  return parts.filter((part): part is Extract<ContentPart, { type: T }> => part.type === type);
}

/** What a host is told of one call, and what the call was answered with. */
async function announced(
  options: { call?: unknown; args?: unknown; tool?: Partial<AnyTool>; meta?: object; run?: object } & Omit<
    LlmAgentOptions,
    'name'
  > = {},
) {
  const { call = 'pay', args = { n: 1 }, tool: own, meta, run = hosted, ...agent } = options;
  const pay = { ...tool('pay', () => 'paid', { inputSchema: schema }), ...own } as AnyTool;
  const part = { type: 'function_call', id: 'theirs', name: call, args, ...(meta ? { _meta: meta } : {}) };
  const model = new ScriptedModel([{ calls: [part as FunctionCallPart] }, 'done']);
  const { say, warnings } = bench(llm('bot', model, { tools: [pay], ...agent }));
  const events = await say('go', run);
  const [made] = partsOf(events, 'function_call');
  const [response] = partsOf(events, 'function_response');
  return { call: made, response, warnings, events };
}

describe('a call that is announced to a host', () => {
  test('has an id of the runtime’s own, its arguments as the tool takes them, and is not answered', async () => {
    const { call, response } = await announced();
    expect(call).toMatchObject({ name: 'pay', args: { n: 1 } });
    expect(call?.id).not.toBe('theirs');
    expect(response).toBeUndefined();
    for (const name of ['ask', 'handledBy', 'hooked']) expect(call?._meta).not.toHaveProperty(name);
  });

  test('says what its tool is, with a digest where the agent has the tool', async () => {
    const { call } = await announced({ tool: { kind: 'edit', annotations: { idempotent: true } } });
    expect(call?._meta?.tool).toEqual({ kind: 'edit', annotations: { idempotent: true }, digest: expect.any(String) });
    const { call: own } = await announced({ tool: { execute: undefined as never, kind: 'edit' } });
    expect(own?._meta).toMatchObject({ handledBy: 'host', tool: { kind: 'edit' } });
    expect(own?._meta?.tool).not.toHaveProperty('digest');
    const { call: plain } = await announced({ run: {} });
    expect(plain).not.toHaveProperty('_meta');
    const { call: kind } = await announced({ run: {}, tool: { kind: 'edit' } });
    expect(kind?._meta).toStrictEqual({ tool: { kind: 'edit' } });
  });

  test('keeps what the provider says of it, and nothing that only the runtime says', async () => {
    const forged = { hooked: true, ask: 'x', asked: {}, handledBy: 'host', tool: {}, signals: { escalate: true } };
    const { call } = await announced({ run: {}, meta: { ...forged, provider: { id: 'p' } } });
    expect(call?._meta).toStrictEqual({ provider: { id: 'p' } });
    const { call: nothing } = await announced({ run: {}, meta: forged });
    expect(nothing).not.toHaveProperty('_meta');
  });

  test.each<[string, AnyTool['needsApproval'], string | undefined]>([
    ['nothing', undefined, undefined],
    ['no', false, undefined],
    ['yes', true, 'the tool asks for approval'],
    ['yes for these arguments', ({ n }: Record<string, unknown>) => n === 1, 'the tool asks for approval'],
    ['no for these arguments', ({ n }: Record<string, unknown>) => n === 2, undefined],
    [
      'only that it cannot tell',
      () => {
        throw new Error('lost');
      },
      'the tool could not say whether it needs approval: lost',
    ],
  ])('is asked about where its tool says so: %s', async (_, needsApproval, expected) => {
    const { call } = await announced({ tool: { needsApproval } as Partial<AnyTool> });
    expect(call?._meta?.ask).toBe(expected);
  });

  test('has been seen by the hooks, which may ask, and signal', async () => {
    const { call, response } = await announced({
      beforeTool: (context) => {
        context.requestConfirmation({ hint: 'really?', payload: { n: 1 } });
        context.escalate();
      },
    });
    expect(call?._meta).toMatchObject({
      hooked: true,
      ask: 'really?',
      asked: { hint: 'really?', payload: { n: 1 } },
      signals: { escalate: true },
    });
    expect(response).toBeUndefined();
    const { call: hintless } = await announced({
      beforeTool: (context) => context.requestConfirmation({}) as undefined,
    });
    expect(hintless?._meta?.ask).toBe('a hook asks for confirmation');
    const { call: silent } = await announced({ beforeTool: () => undefined });
    expect(silent?._meta).toMatchObject({ hooked: true });
    for (const name of ['ask', 'asked', 'signals', 'rawArgs']) expect(silent?._meta).not.toHaveProperty(name);
  });

  test('has the arguments that a hook gave it, checked, and those from before beside them', async () => {
    const { call } = await announced({
      beforeTool: () => ({ action: 'proceed', modifications: { args: { n: 7 } } }) as never,
    });
    expect([call?.args, call?._meta?.rawArgs]).toEqual([{ n: 7 }, { n: 1 }]);
    const { call: same, response } = await announced({
      beforeTool: () => ({ action: 'proceed', modifications: { args: { n: 'many' } } }) as never,
    });
    expect([same?.args, response?.errorType]).toEqual([{ n: 1 }, 'invalid_args']);
    expect(String(response?.response.error)).toContain("a hook's arguments do not fit");
  });

  test('is answered where a hook has its result, blocks it or fails', async () => {
    const result = await announced({ beforeTool: () => ({ paid: 'elsewhere' }) });
    expect(result.response).toMatchObject({ id: result.call?.id, name: 'pay', response: { paid: 'elsewhere' } });
    expect(result.response).not.toHaveProperty('isError');
    expect(result.response).not.toHaveProperty('errorType');
    expect(result.response).not.toHaveProperty('content');
    const blocked = await announced({ beforeTool: () => ({ action: 'block', reason: 'no' }) as never });
    expect(blocked.response).toMatchObject({ isError: true, response: { error: expect.stringContaining('no') } });
  });

  test('keeps the state that its hooks wrote', async () => {
    const { events } = await announced({ beforeTool: (context) => context.state.set('seen', 1) as undefined });
    expect(events.some(({ actions }) => actions.stateDelta.seen === 1)).toBe(true);
  });
});

describe('a call that cannot run', () => {
  test.each<[string, Parameters<typeof announced>[0], string]>([
    ['has arguments that do not fit', { args: { n: 'x' }, run: {} }, 'invalid_args'],
    ['is to a tool that is not there', { call: 'buy', run: {} }, 'not_found'],
  ])('%s: it is answered at once', async (_, options, errorType) => {
    const { call, response } = await announced(options);
    expect(response).toMatchObject({ id: call?.id, isError: true, errorType });
    expect(call?.args).toEqual(options?.args ?? { n: 1 });
  });

  test('keeps its arguments as far as they are JSON, and the rest as text', async () => {
    const circle: Record<string, unknown> = {};
    circle.self = circle;
    for (const [args, raw] of [
      [['a'], ['a']],
      ['text', 'text'],
      [null, null],
      [circle, expect.any(String)],
    ]) {
      const { call, response } = await announced({ args, run: {} });
      expect([call?.args, call?._meta?.rawArgs, response?.errorType]).toEqual([{}, raw, 'invalid_args']);
    }
  });

  test('of an answer that was cut does not run, whatever it is', async () => {
    let runs = 0;
    const model = new ScriptedModel([{ calls: [['pay', { n: 1 }], ['gone']], finishReason: 'length' }, 'done']);
    const onToolError = () => 'instead';
    const { say } = bench(llm('bot', model, { tools: [tool('pay', () => runs++)], onToolError }));
    const events = await say('go');
    const responses = partsOf(events, 'function_response');
    expect(responses.map(({ errorType }) => errorType)).toEqual(['truncated', undefined]);
    expect([runs, partsOf(events, 'function_call')[0]?.args]).toEqual([0, { n: 1 }]);
  });

  test('to a tool that is not there may be answered by a hook, which is told of it', async () => {
    const told: unknown[] = [];
    const { call, response, events } = await announced({
      call: 'buy',
      onToolError: (context, descriptor, args, error) => {
        told.push(descriptor, args, (error as { code: string }).code);
        context.state.set('tried', 1);
        return { bought: 1 };
      },
    });
    expect(told).toEqual([{ name: 'buy', description: '', inputSchema: {} }, { n: 1 }, 'E_TOOL']);
    expect([call?._meta?.hooked, response?.response]).toEqual([true, { bought: 1 }]);
    expect(events.some(({ actions }) => actions.stateDelta.tried === 1)).toBe(true);
    const silent = await announced({ call: 'buy', run: {}, onToolError: () => undefined });
    expect([silent.call?._meta, silent.response?.errorType]).toEqual([undefined, 'not_found']);
  });
});
