import { describe, expect, test } from 'vitest';
import { compileSchema, ensureValidator } from '../../src/gate/index.ts';
import type { JsonSchema } from '../../src/index.ts';
import { LlmAgent, ParallelAgent } from '../../src/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { puppetModel } from './agents.ts';
import { connect, sessionOf, textOf } from './clients.ts';
import { openShop } from './kit.ts';

const closed = (properties: object) => ({ type: 'object', properties, additionalProperties: false });
const count = {
  ...puppetModel,
  generate: (...[request, context]: Parameters<typeof puppetModel.generate>) => {
    const said = request.contents
      .filter(({ role }) => role === 'user')
      .map(() => ({ role: 'user' as const, parts: [{ type: 'text' as const, text: 'count' }] }));
    return puppetModel.generate({ ...request, contents: said }, context);
  },
};

describe.each<[string, JsonSchema]>([
  ['of closed branches', { anyOf: [closed({ a: { const: 1 } }), closed({ b: { type: 'string' } })] }],
  ['that refers to a closed one', { $ref: '#/$defs/A', $defs: { A: closed({ a: { const: 1 } }) } }],
  ['of so many members', { type: 'object', properties: { a: {} }, maxProperties: 1 }],
  ['whose names are short', { type: 'object', propertyNames: { maxLength: 3 } }],
])('an agent with an input schema %s', (_, inputSchema) => {
  test('takes a session_id beside what fits, and goes on', async () => {
    await using shop = await openShop({ agents: [new LlmAgent({ name: 'puppet', model: count, inputSchema })] });
    await using client = await connect('v1', shop);
    const first = await client.call('puppet', { a: 1 });
    const session_id = sessionOf(first);
    expect(textOf(await client.call('puppet', { a: 1, session_id }))).toBe('2 said');
    const wrong = await client.call('puppet', { a: 1, long: 2, session_id });
    expect({ isError: wrong.isError, text: textOf(wrong) }).toEqual({
      isError: true,
      text: expect.stringContaining('long'),
    });
    const muddled = await client.call('puppet', { a: 1, session_id: 5 });
    expect(textOf(muddled)).toContain('session_id: expected string, got 5');
  });
});

test('branches that are closed say that they take a session_id', async () => {
  const inputSchema = { oneOf: [closed({ a: { const: 1 } }), { allOf: [closed({ b: {} })] }] };
  await using shop = await openShop({ agents: [new LlmAgent({ name: 'puppet', model: count, inputSchema })] });
  await using client = await connect('v1', shop);
  const [tool] = await client.tools();
  await ensureValidator();
  const fits = compileSchema(tool?.inputSchema as JsonSchema);
  expect([{ a: 1, session_id: 'x' }, { b: 1, session_id: 'x' }, { c: 1 }].map((args) => fits(args))).toEqual([
    true,
    true,
    false,
  ]);
});

test('a conversation that is not there: the caller is told what a caller can do', async () => {
  await using shop = await openShop();
  await using client = await connect('v2', shop);
  const result = await client.call('puppet', { prompt: 'count', session_id: 'nope' });
  expect(result.isError).toBe(true);
  expect(textOf(result)).toBe(
    'E_SESSION_NOT_FOUND: there is no conversation nope; leave session_id out to begin a new one',
  );
});

test('an agent whose work parts into branches answers with what they have said, in the order of the tree', async () => {
  const agent = (name: string) => new LlmAgent({ name, model: new ScriptedModel([`${name} says`]) });
  const pair = new ParallelAgent({ name: 'pair', subAgents: [agent('left'), agent('right')] });
  await using shop = await openShop({ agents: [pair] });
  await using client = await connect('v1', shop);
  expect(textOf(await client.call('pair', { prompt: 'go' }))).toBe('left says\n\nright says');
});

test('IOP-M1 an answer that was cut at the output limit says so beside its words', async () => {
  const model = new ScriptedModel([{ text: 'half of', finishReason: 'length' }, 'all of it']);
  await using shop = await openShop({ agents: [new LlmAgent({ name: 'puppet', model })] });
  await using client = await connect('v1', shop);
  const first = await client.call('puppet', { prompt: 'go' });
  expect(first.isError ?? false).toBe(false);
  expect(textOf(first)).toContain("half of\nThe answer was cut at the model's output limit.");
  expect(textOf(await client.call('puppet', { prompt: 'again' }))).not.toContain('cut');
});
