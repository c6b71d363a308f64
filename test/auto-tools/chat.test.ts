import { describe, expect, test } from 'vitest';
import {
  Chat,
  executeCalls,
  extractCalls,
  extractText,
  FunctionTools,
  generateWithAutoTools,
} from '../../src/adapters/auto-tools/index.ts';
import type { FunctionCallPart } from '../../src/contracts/index.ts';
import { failure, scripted, weather } from './kit.ts';

const call = (name: string, id = ''): FunctionCallPart => ({ type: 'function_call', id, name, args: {} });

describe('S1-12 Chat', () => {
  const asked = Chat.new().addTurn('user', 'Rome and Oslo?');
  const called = asked.addTurn('model', [
    { name: 'weather', args: { city: 'Rome' } },
    { id: 'own', name: 'weather', args: { city: 'Oslo' } },
  ]);

  test('text, calls and results make turns', () => {
    const answered = called.addTurn('user', [
      { callId: 'own', name: 'weather', content: { deg: 3 } },
      { name: 'weather', content: 'sunny', isError: false },
    ]);
    expect(answered.history).toEqual([
      { role: 'user', parts: [{ type: 'text', text: 'Rome and Oslo?' }] },
      {
        role: 'model',
        parts: [
          { type: 'function_call', id: 'call-1-0', name: 'weather', args: { city: 'Rome' } },
          { type: 'function_call', id: 'own', name: 'weather', args: { city: 'Oslo' } },
        ],
      },
      {
        role: 'user',
        parts: [
          { type: 'function_response', id: 'own', name: 'weather', response: { deg: 3 } },
          { type: 'function_response', id: 'call-1-0', name: 'weather', response: { content: 'sunny' } },
        ],
      },
    ]);
    expect(answered.openCalls).toEqual([]);
  });

  test('S1-11 an error is an error, under the name of the tool', () => {
    const { history } = called.addTurn('user', [{ callId: 'own', name: 'whatever', content: 'no', isError: true }]);
    expect(history.at(-1)?.parts).toEqual([
      { type: 'function_response', id: 'own', name: 'weather', response: { error: 'no' }, isError: true },
    ]);
  });

  test('never changes', () => {
    expect(asked.history).toHaveLength(1);
    expect(called.openCalls).toHaveLength(2);
    expect(() => (asked.history as unknown[]).push('x')).toThrow(TypeError);
    expect(() => Object.assign(asked.history[0]?.parts[0] ?? {}, { text: 'other' })).toThrow(TypeError);
    const given = [{ role: 'user' as const, parts: [{ type: 'text' as const, text: 'a' }] }];
    const chat = Chat.new({}, given);
    given[0]?.parts.push({ type: 'text', text: 'b' });
    expect(chat.history[0]?.parts).toHaveLength(1);
  });

  test('a result that answers nothing is refused', () => {
    expect(() => called.addTurn('user', [{ callId: 'x', name: 'weather', content: 1 }])).toThrow(
      /answers no open call/,
    );
    expect(() => asked.addTurn('user', [{ name: 'weather', content: 1 }])).toThrow(/answers no open call/);
    expect(() => asked.addTurn('user', [])).toThrow(/at least one part/);
  });

  test('hands on its options, and goes on from an answer', async () => {
    const { tools } = weather();
    const model = scripted('one', 'two');
    const chat = Chat.new({ model, tools, config: { temperature: 1 } }).addTurn('user', 'a');
    const first = await generateWithAutoTools(chat, {});
    const second = await generateWithAutoTools(first.chat.addTurn('user', 'b'), { config: { temperature: 0 } });
    expect(second.text).toBe('two');
    expect(model.requests.map(({ config }) => config)).toEqual([{ temperature: 1 }, { temperature: 0 }]);
    expect(model.requests[1]?.contents).toHaveLength(3);
  });
});

describe('reading answers', () => {
  const content = {
    role: 'model' as const,
    parts: [{ type: 'thought' as const, thought: 'hm' }, { type: 'text' as const, text: 'a' }, call('f'), call('g')],
  };

  test('S1-06 calls of every part of every answer, in order; none without content', () => {
    expect(extractCalls({ content })).toEqual([call('f'), call('g')]);
    expect(extractCalls(content)).toHaveLength(2);
    expect(extractCalls([{ content }, {}, undefined, content]).map(({ name }) => name)).toEqual(['f', 'g', 'f', 'g']);
    expect(extractCalls(undefined)).toEqual([]);
    expect(extractCalls({})).toEqual([]);
  });

  test('S1-24 extractText', () => {
    expect(extractText({ content })).toBe('a');
    expect(extractText(undefined)).toBe('');
  });
});

describe('S1-10 FunctionTools', () => {
  test('registers functions and runs calls of them', async () => {
    const { tools, ran } = weather();
    const results = await tools.executeCalls([
      { id: 'one', name: 'weather', args: { city: 'a' } },
      { name: 'weather', args: { city: 'b' } },
    ]);
    expect(results).toMatchObject([
      { type: 'function_response', id: 'one', name: 'weather', response: { content: 'sunny in a' } },
      { type: 'function_response', id: '', response: { content: 'sunny in b' } },
    ]);
    expect(ran).toEqual(['a', 'b']);
    expect(tools.names).toEqual(['weather']);
  });

  test('S1-09 each failure is its own: unknown, unfit, thrown, denied', async () => {
    const { tools, ran } = weather(({ city }) => {
      if (city === 'bad') throw new Error('boom');
      return city;
    });
    tools.register({ name: 'pay', description: 'pays', needsApproval: true }, () => ran.push('paid'));
    const results = await tools.executeCalls([
      { name: 'nope' },
      { name: 'weather', args: { city: 7 } },
      { name: 'weather', args: { city: 'bad' } },
      { name: 'pay' },
      { name: 'weather', args: { city: 'ok' } },
    ]);
    expect(results.map(({ errorType }) => errorType)).toEqual([
      'not_found',
      'invalid_args',
      'failed',
      'denied',
      undefined,
    ]);
    expect(ran).toEqual(['bad', 'ok']);
  });

  test('results fit into the chat that the calls came from', async () => {
    const { tools } = weather();
    const chat = Chat.new()
      .addTurn('user', 'q')
      .addTurn('model', [{ name: 'weather', args: { city: 'a' } }]);
    const after = chat.addTurn('user', await executeCalls(chat.openCalls, { tools }));
    expect(after.openCalls).toEqual([]);
    expect((await generateWithAutoTools(after, { model: scripted('done') })).text).toBe('done');
  });

  test('calls as a provider gave them, without ids, find their results by name and order', async () => {
    const { tools } = weather(({ city }) => city);
    const meta = (id: string) => ({ _meta: { provider: { name: 'p', id } } });
    const parts = ['a', 'b'].map((city) => ({ ...call('weather'), args: { city }, ...meta(city) }));
    const chat = Chat.new().addTurn('user', 'q').addTurn('model', parts);
    expect(chat.openCalls.map(({ id }) => id)).toEqual(['call-1-0', 'call-1-1']);
    const after = chat.addTurn('user', await executeCalls(extractCalls({ role: 'model', parts }), { tools }));
    expect(after.history.at(-1)?.parts).toMatchObject([
      { id: 'call-1-0', response: { content: 'a' }, ...meta('a') },
      { id: 'call-1-1', response: { content: 'b' }, ...meta('b') },
    ]);
  });

  test('S1-09 arguments that are no JSON fail their own call and no other', async () => {
    const { tools, ran } = weather();
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    const results = await tools.executeCalls([
      { id: 'a', name: 'weather', args: { city: 1n } },
      { id: 'b', name: 'weather', args: { city: 'Rome' } },
      { name: 'weather', args: cycle },
      { id: 'd', name: 'weather', args: { city: 'Oslo' } },
    ]);
    expect(results).toMatchObject([
      { id: 'a', name: 'weather', isError: true, errorType: 'invalid_args', response: { error: expect.any(String) } },
      { id: 'b', response: { content: 'sunny in Rome' } },
      { id: '', isError: true, errorType: 'invalid_args' },
      { id: 'd', response: { content: 'sunny in Oslo' } },
    ]);
    expect(ran).toEqual(['Rome', 'Oslo']);
    expect(await tools.executeCalls([{ name: 'weather', args: cycle }])).toHaveLength(1);
  });

  test('no calls, no results; an abort is thrown', async () => {
    const { tools } = weather();
    expect(await tools.executeCalls([])).toEqual([]);
    const aborted = tools.executeCalls([{ name: 'weather', args: { city: 'a' } }], { signal: AbortSignal.abort('no') });
    expect(await failure(aborted)).toMatchObject({ code: 'E_ABORTED', message: 'no' });
  });

  test('one name, one tool', () => {
    const { tools } = weather();
    const again = () => tools.register({ name: 'weather', description: 'd' }, () => 1);
    expect(again).toThrow(/registered already/);
    expect(tools.unregister('weather')).toBe(true);
    expect(tools.unregister('weather')).toBe(false);
    again();
    expect(tools.get('weather')?.description).toBe('d');
  });

  test('a schema that is none is refused when it is registered', () => {
    const parameters = { type: 'string' };
    expect(() => new FunctionTools().register({ name: 'f', description: 'd', parameters }, () => 1)).toThrow(/object/);
  });
});
