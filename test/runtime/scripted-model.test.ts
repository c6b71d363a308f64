import { describe, expect, test } from 'vitest';
import { fromAgent } from '../../src/adapters/adk/index.ts';
import type { ModelRequest, ModelResponse } from '../../src/runtime/index.ts';
import { run } from '../../src/session/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { bench, brief, collect, llm, said, user } from './kit.ts';

const request = (agent = 'bot'): ModelRequest => ({
  model: 'm',
  systemInstruction: '',
  contents: [user('hi')],
  config: {},
  tools: new Map(),
  agent,
});

const ask = (model: ScriptedModel, agent?: string, stream = false): Promise<ModelResponse[]> =>
  collect(model.generate(request(agent), { stream, signal: new AbortController().signal }));

const words = (frames: ModelResponse[]) => frames.map(({ content }) => brief(content && [content])[0]);

describe('S0-66 a scripted model', () => {
  test('pops its answers in order, computes those that are functions; where it was told to, then says "Mock response"', async () => {
    const responses = ['one', ({ agent }: { agent: string }) => `for ${agent}`, async () => ({ text: 'three' })];
    const model = new ScriptedModel({ responses, strict: false });
    expect(model.remaining).toBe(3);
    expect(() => model.assertUsedUp()).toThrow(expect.objectContaining({ code: 'E_SCRIPT' }));
    const answers = [];
    for (let n = 0; n < 5; n++) answers.push(...words(await ask(model)));
    expect(answers).toEqual([
      'model: one',
      'model: for bot',
      'model: three',
      'model: Mock response',
      'model: Mock response',
    ]);
    expect(() => model.assertUsedUp()).not.toThrow();
  });

  test('NEW-D20 fails when its script has run out, and says who asked; so does the turn', async () => {
    const refused = expect.objectContaining({
      code: 'E_SCRIPT',
      message: 'the script has no answer left: clerk asked once more than it was written for',
    });
    await expect(ask(new ScriptedModel(), 'clerk')).rejects.toThrow(refused);
    await expect(ask(new ScriptedModel({ strict: true }), 'clerk')).rejects.toThrow(refused);
    const source = fromAgent(llm('clerk', new ScriptedModel(['one'])));
    const session = await source.open({}, { app: 'test' });
    expect(await run(session, 'hi')).toMatchObject({ reason: 'completed', text: 'one' });
    expect(await run(session, 'again')).toMatchObject({ reason: 'failed', error: { code: 'E_SCRIPT' } });
  });

  test('answers by agent come before those for anybody', async () => {
    const model = new ScriptedModel({ responses: ['anybody'], byAgent: { a: ['for a'] }, strict: false });
    expect(words(await ask(model, 'b'))).toEqual(['model: anybody']);
    expect(words(await ask(model, 'a'))).toEqual(['model: for a']);
    expect(words(await ask(model, 'a'))).toEqual(['model: Mock response']);
  });

  test('streams thought and deltas, then the whole; unstreamed only the whole', async () => {
    const step = { thought: 'hm', deltas: ['a', 'b'], usage: { outputTokens: 2 } };
    const streamed = await ask(new ScriptedModel([step]), 'bot', true);
    expect(streamed.map(({ partial }) => partial ?? false)).toEqual([true, true, true, false]);
    expect(words(streamed)).toEqual(['model: thought', 'model: a', 'model: b', 'model: thought | ab']);
    expect(streamed.at(-1)).toMatchObject({ turnComplete: true, finishReason: 'stop', usage: { outputTokens: 2 } });
    expect(words(await ask(new ScriptedModel([step])))).toEqual(['model: thought | ab']);
  });

  test('fails as it is told to: by throwing or by an error frame', async () => {
    const model = new ScriptedModel([{ error: new Error('down') }, { errorCode: 'http_500' }]);
    await expect(ask(model)).rejects.toThrow('down');
    expect(await ask(model)).toEqual([{ errorCode: 'http_500', errorMessage: 'http_500' }]);
  });

  test('records what it was asked as it was then', async () => {
    const model = new ScriptedModel(['one', 'two']);
    const { say } = bench(llm('bot', model));
    expect(said(await say('a'))).toEqual(['user: a', 'bot: one']);
    await say('b');
    expect(model.requests.map(({ contents }) => contents.length)).toEqual([1, 3]);
  });
});
