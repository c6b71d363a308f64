import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { fromAgent } from '../../src/adapters/adk/index.ts';
import type { SchemaLike } from '../../src/contracts/index.ts';
import type { LlmAgentOptions } from '../../src/runtime/index.ts';
import { agentTool, SequentialAgent } from '../../src/runtime/index.ts';
import { run } from '../../src/session/index.ts';
import type { Script } from '../../src/testing/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { bench, endOf, errorOf, llm, responses, text, tool } from './kit.ts';

const raise = (error: Error): never => {
  throw error;
};
/** A Standard Schema of no library that is known. */
const standard = {
  '~standard': {
    version: 1,
    vendor: 'by-hand',
    validate: ({ t }: { t: number }) => (t < 10 ? { value: { t } } : { issues: [{ message: 'too warm' }] }),
    jsonSchema: { input: () => ({ type: 'object' }), output: () => ({ type: 'object' }) },
  },
} as unknown as SchemaLike;

const outputSchema = { type: 'object', properties: { t: { type: 'number' } }, required: ['t'] };

function agent(script: readonly Script[], options: Partial<LlmAgentOptions> = {}) {
  return llm('bot', new ScriptedModel(script), { outputSchema, ...options });
}

describe('an output schema', () => {
  test('makes the answer a value: of the stream’s end, and under the output key', async () => {
    const look = tool('look', () => 'seen');
    const source = fromAgent(
      agent([{ text: 'Let me see.', calls: [['look']] }, '{"t":3}'], { tools: [look], outputKey: 'out' }),
    );
    const session = await source.open({}, { app: 'shop' });
    expect(await run(session, 'how warm?')).toMatchObject({ reason: 'completed', output: { t: 3 } });
    const again = bench(agent(['{"t":4}'], { outputKey: 'out' }));
    await again.say('hi');
    expect(await again.state()).toEqual({ out: { t: 4 } });
  });

  test.each([
    ['no JSON', 'warm', /agent bot does not fit its output schema: it is not JSON/],
    ['another shape', '{"t":"warm"}', /output schema: .*t.*number/],
    ['nothing', '', /it is not JSON/],
  ])('%s fails the turn, for whoever asks again too', async (_, answer, message) => {
    const { say } = bench(agent([answer]));
    const events = await say('hi');
    expect(errorOf(events)).toEqual({ code: 'E_OUTPUT_SCHEMA', message: expect.stringMatching(message) });
    expect(endOf(events)).toBe('failed');
  });

  test.each([
    ['a refinement', z.object({ t: z.number() }).refine(({ t }) => t < 10, 'too warm')],
    ['one that takes its time', z.object({ t: z.number() }).refine(async ({ t }) => t < 10, 'too warm')],
    ['a check of another library', standard],
    ['one that throws', z.object({ t: z.number() }).refine(() => raise(new Error('too warm to tell')))],
  ])('ATT-B3 the schema’s own %s holds, for the output key too', async (_, own) => {
    const { say, state } = bench(agent(['{"t":30}'], { outputSchema: own, outputKey: 'out' }));
    const events = await say('hi');
    expect(errorOf(events)).toEqual({ code: 'E_OUTPUT_SCHEMA', message: expect.stringContaining('too warm') });
    expect([endOf(events), await state()]).toEqual(['failed', {}]);
  });

  test('what its transforms make is not the output: that is what was said', async () => {
    const own = z.object({ t: z.number().transform((t) => t * 2) });
    const { say, state } = bench(agent(['{"t":3}'], { outputSchema: own, outputKey: 'out' }));
    expect([endOf(await say('hi')), await state()]).toEqual(['completed', { out: { t: 3 } }]);
  });

  test('a later sibling does not start on an answer that does not fit', async () => {
    const model = new ScriptedModel(['never']);
    const { say, state } = bench(
      new SequentialAgent({ name: 'all', subAgents: [agent(['warm'], { outputKey: 'out' }), llm('b', model)] }),
    );
    expect(endOf(await say('hi'))).toBe('failed');
    // What others read there is of the promised shape, or not there.
    expect([model.requests, await state()]).toEqual([[], {}]);
  });

  test.each(['```json\n{"t":3}\n```', '\n```\n{"t":3}```\n', '```JSON\r\n{"t":3}\r\n```'])(
    'fences around the answer are none of it: %j',
    async (answer) => {
      const { say, state } = bench(agent([answer], { outputKey: 'out' }));
      expect(endOf(await say('hi'))).toBe('completed');
      expect(await state()).toEqual({ out: { t: 3 } });
    },
  );

  test('whoever goes on with a turn that failed on it asks the model again, and tells it why', async () => {
    const model = new ScriptedModel(['warm', '{"t":"x"}', '{"t":5}']);
    const session = await fromAgent(llm('bot', model, { outputSchema, outputKey: 'out' })).open({}, { app: 'shop' });
    expect((await run(session, 'how warm?')).reason).toBe('failed');
    expect((await run(session, { kind: 'continue' })).reason).toBe('failed');
    expect(await run(session, { kind: 'continue' })).toMatchObject({ reason: 'completed', output: { t: 5 } });
    const asked = model.requests.map(({ contents }) => contents.at(-1)?.parts);
    expect(asked[0]).toEqual([{ type: 'text', text: 'how warm?' }]);
    expect(asked[1]).toEqual([{ type: 'text', text: expect.stringMatching(/it is not JSON.*nothing but JSON/s) }]);
    expect(asked[2]).toEqual([{ type: 'text', text: expect.stringMatching(/t.*number/) }]);
    // What the model is told is for it alone.
    const shown: string[] = [];
    for await (const event of session.events()) if (event.type === 'message') shown.push(event.role);
    expect(shown).toEqual(['user', 'agent', 'agent', 'agent']);
  });

  test('F29 words of a refusal are no answer: the key is left alone', async () => {
    const { say, state } = bench(
      llm('bot', new ScriptedModel([{ text: 'I will not', finishReason: 'refusal' }]), { outputKey: 'out' }),
    );
    expect(endOf(await say('hi'))).toBe('refusal');
    expect(await state()).toEqual({});
  });

  test.each(['', 5])('an output key is text that is not empty: %j is refused at construction', (outputKey) => {
    expect(() => llm('bot', undefined, { outputKey: outputKey as string })).toThrow(
      expect.objectContaining({ code: 'E_STATE_KEY' }),
    );
  });

  test('S3-54 as a tool its result is the value; one that does not fit is the call’s error', async () => {
    const caller = (script: readonly Script[]) =>
      llm('caller', new ScriptedModel([{ calls: [['bot', { request: 'x' }]] }, 'done']), {
        tools: [agentTool(agent(script))],
      });
    const good = await bench(caller(['{"t":3}'])).say('hi');
    expect(responses(good).bot).toEqual({ t: 3 });
    const bad = await bench(caller(['warm'])).say('hi');
    expect(responses(bad).bot).toEqual({ error: expect.stringContaining('does not fit its output schema') });
    expect(endOf(bad)).toBe('completed');
  });

  test('what a hook says in the agent’s place is the hook’s to answer for', async () => {
    const before = await bench(agent([], { beforeAgent: () => text('closed today') })).say('hi');
    const after = await bench(agent(['{"t":3}'], { afterAgent: () => text('about three') })).say('hi');
    expect([endOf(before), endOf(after)]).toEqual(['completed', 'completed']);
  });
});
