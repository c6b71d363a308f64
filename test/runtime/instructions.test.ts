import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  fillTemplate,
  InMemoryArtifactService,
  InMemorySessionService,
  SequentialAgent,
} from '../../src/runtime/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { bench, endOf, errorOf, key, llm } from './kit.ts';

const state: Record<string, unknown> = {
  user_name: 'Ann',
  'app:model': 'm-1',
  'user:plan': { tier: 2 },
  'temp:x': 0,
  größe: 'L',
  $cost: 5,
  empty: '',
  no: false,
};

const fill = (template: string, files: Record<string, string> = {}) =>
  fillTemplate(
    template,
    (name) => state[name],
    async (name) => files[name],
    'bot',
  );

describe('S0-23 F44 templates', () => {
  test.each([
    ['{user_name}', 'Ann'],
    ['{app:model} {user:plan} {temp:x}', 'm-1 {"tier":2} 0'],
    ['{größe}{$cost}', 'L5'],
    ['{user_name}{user_name?}', 'AnnAnn'],
    ['[{nick?}] [{app:nick?}]', '[] []'],
    ['{empty}|{no}', '|false'],
  ])('%s is filled', async (template, expected) => {
    expect(await fill(template)).toBe(expected);
  });

  test.each([
    '{"city": "x"}',
    '{ user_name }',
    '{}',
    '{1}',
    '{a.b}',
    '{a-b}',
    '{user_name!}',
    '{user_name??}',
    '{other:user_name}',
    '{app:}',
    '{user_name',
    'user_name}',
    'if (x) { return y; }',
    `text \${user_name} more`,
    'f({user_name: 1})',
    '{artifact.}',
    '{artifact.a/b}',
    '{artifact.../x}',
  ])('%s stays as it is', async (template) => {
    expect(await fill(template)).toBe(template);
  });

  test.each([
    ['{{city}}', '{city}'],
    ['{{user_name}}', '{user_name}'],
    ['{{app:city?}} and {user_name}', '{app:city?} and Ann'],
    ['{{artifact.a.txt}}', '{artifact.a.txt}'],
    ['{{"a": 1}}', '{{"a": 1}}'],
    ['{{{user_name}}}', '{{user_name}}'],
  ])('%s: double braces are literal ones where a placeholder would stand', async (template, expected) => {
    expect(await fill(template)).toBe(expected);
  });

  test('F44 the case from the field', async () => {
    const template = 'Reply as {"city": "x"}; use {{city}} literally; name is {user_name}; opt {nick?}';
    expect(await fill(template)).toBe('Reply as {"city": "x"}; use {city} literally; name is Ann; opt ');
  });

  test('artifacts are loaded as text; missing ones are errors unless optional', async () => {
    expect(await fill('{artifact.a.txt}/{artifact.b.txt?}', { 'a.txt': '{user_name}' })).toBe('{user_name}/');
    await expect(fill('{artifact.b.txt}')).rejects.toMatchObject({ details: { key: 'artifact.b.txt', agent: 'bot' } });
  });

  test.each([
    ['{artifact.none.txt}', {}, /agent bot needs \{artifact.none.txt\}, which is no artifact of this session; save it/],
    ['{artifact...}', {}, /agent bot needs \{artifact...\}, which could not be loaded: .*folder step/],
    ['{artifact.a.txt?}', undefined, /agent bot needs .*could not be loaded: there is no artifact service/],
  ])(
    'an artifact that cannot be had is an error that names it and the agent: %s',
    async (instruction, files, message) => {
      const services = files ? { artifacts: new InMemoryArtifactService() } : {};
      const { say } = bench(llm('bot', new ScriptedModel(), { instruction }), { services });
      expect(errorOf(await say('hi'))).toEqual({ code: 'E_INSTRUCTION', message: expect.stringMatching(message) });
    },
  );

  test.each([undefined, null, 5, {}])('a function that returns %j instead of text is named', async (value) => {
    const { say } = bench(llm('bot', new ScriptedModel(), { instruction: () => value as unknown as string }));
    expect(errorOf(await say('hi'))).toEqual({
      code: 'E_INSTRUCTION',
      message: expect.stringContaining('the instruction function of agent bot returned'),
    });
  });

  test('a missing key is an error that names key and agent', async () => {
    await expect(fill('hi {nick}')).rejects.toMatchObject({
      status: 'FAILED_PRECONDITION',
      code: 'E_INSTRUCTION',
      message: expect.stringMatching(/agent bot needs \{nick\}.*\{nick\?\}/),
      details: { key: 'nick', agent: 'bot' },
    });
  });

  test('in one pass: what was filled in is not filled again', async () => {
    const values: Record<string, unknown> = { a: '{b} {{c}} $&', b: 'never' };
    const filled = await fillTemplate(
      '<{a}>',
      (name) => values[name],
      async () => undefined,
      'bot',
    );
    expect(filled).toBe('<{b} {{c}} $&>');
  });

  const braces = fc.string({ unit: fc.constantFrom('{', '}', '$', '?', ':', 'a', 'app', '.', ' ', '"', 'é', '😀') });

  test('text without a placeholder never changes', async () => {
    const placeholder = /\{(?:(?:app|user|temp):)?[\p{ID_Start}_$][\p{ID_Continue}$]*\??\}|\{artifact\.[^{}\s?]+\??\}/u;
    await fc.assert(
      fc.asyncProperty(fc.oneof(braces, fc.string({ unit: 'binary' })), async (text) => {
        fc.pre(!placeholder.test(text));
        expect(await fill(text)).toBe(text);
      }),
      { numRuns: 500 },
    );
  });

  test('whatever the text: every key has a value, then only placeholders change', async () => {
    await fc.assert(
      fc.asyncProperty(braces, async (text) => {
        const filled = await fillTemplate(
          text,
          () => 'V',
          async () => 'V',
          'bot',
        );
        // A value has no braces: of every placeholder two are lost, of every escape two.
        expect(filled.replaceAll('V', '').length).toBeLessThanOrEqual(text.length);
        if (!text.includes('{')) expect(filled).toBe(text);
      }),
      { numRuns: 500 },
    );
  });
});

describe('S0-23 instructions of agents', () => {
  test('global and own instruction, filled from state', async () => {
    const sessions = new InMemorySessionService();
    await sessions.create(key, { state: { user_name: 'Ann', 'app:house': 'Tea & Co' } });
    const model = new ScriptedModel({ strict: false });
    const child = llm('child', undefined, { instruction: 'Serve {user_name}.' });
    const plain = llm('plain', undefined);
    const root = llm('root', model, { globalInstruction: 'You work for {app:house}.', instruction: 'Greet {nick?}.' });
    const tree = new SequentialAgent({ name: 'all', subAgents: [root] });
    await bench(tree, { store: sessions }).say('hi');
    expect(model.requests[0]?.systemInstruction).toBe('You work for Tea & Co.\n\nGreet .');

    const house = llm('house', model, {
      globalInstruction: 'You work for {app:house}.',
      subAgents: [new SequentialAgent({ name: 'inner', subAgents: [child, plain] })],
      beforeModel: () => ({
        content: {
          role: 'model',
          parts: [{ type: 'function_call', id: '', name: 'transfer_to_agent', args: { agent_name: 'inner' } }],
        },
      }),
    });
    await bench(house, { store: sessions }).say('hi');
    const asked = Object.fromEntries(model.requests.map((request) => [request.agent, request.systemInstruction]));
    expect(asked).toMatchObject({
      child: 'You work for Tea & Co.\n\nServe Ann.',
      plain: 'You work for Tea & Co.',
    });
  });

  test('a function’s text is taken as it is, and is given the state', async () => {
    const model = new ScriptedModel({ strict: false });
    const { say } = bench(
      llm('bot', model, {
        globalInstruction: () => 'global {user_name}',
        instruction: async ({ state: view, agentPath, invocation }) =>
          `{{x}} {missing} ${view.get('k')} ${agentPath.join('/')} ${invocation.sessionId}`,
        beforeAgent: (context) => context.state.set('k', 'v') as undefined,
      }),
    );
    await say('hi');
    expect(model.requests[0]?.systemInstruction).toBe('global {user_name}\n\n{{x}} {missing} v bot s1');
  });

  test('a missing key fails the turn before the model is asked, naming key and agent', async () => {
    const model = new ScriptedModel({ strict: false });
    const events = await bench(llm('bot', model, { instruction: 'hi {nick}' })).say('hi');
    expect(errorOf(events)).toMatchObject({ code: 'E_INSTRUCTION', message: expect.stringMatching(/bot.*\{nick\}/) });
    expect([endOf(events), model.requests]).toEqual(['failed', []]);
  });

  test('an artifact’s text is filled in', async () => {
    const model = new ScriptedModel({ strict: false });
    const artifacts = new InMemoryArtifactService();
    await artifacts.save(key, 'menu.txt', { mimeType: 'text/plain', data: btoa('Tea: 2') });
    const { say } = bench(llm('bot', model, { instruction: 'Menu: {artifact.menu.txt}' }), { services: { artifacts } });
    await say('hi');
    expect(model.requests[0]?.systemInstruction).toBe('Menu: Tea: 2');
  });
});
