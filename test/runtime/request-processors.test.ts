import { describe, expect, test } from 'vitest';
import type { RequestProcessor } from '../../src/runtime/index.ts';
import { defaultProcessors, SequentialAgent } from '../../src/runtime/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { bench, brief, endOf, errorOf, llm, ownTool, tool } from './kit.ts';

const spied = (trace: string[]): RequestProcessor[] =>
  defaultProcessors.map(({ name, process }) => ({
    name,
    process: async (facts, draft) => {
      const before = [
        draft.tools.size,
        draft.systemInstruction.length,
        draft.contents.length,
        Object.keys(draft.config).length,
      ];
      await process(facts, draft);
      const after = [
        draft.tools.size,
        draft.systemInstruction.length,
        draft.contents.length,
        Object.keys(draft.config).length,
      ];
      const parts = ['tools', 'system', 'contents', 'config'].filter((_, at) => before[at] !== after[at]);
      trace.push(`${name}: ${parts.join(', ')}`);
    },
  }));

describe('S0-19 request processors', () => {
  test('five, in this order, each with its part of the request', async () => {
    const trace: string[] = [];
    const agent = llm('bot', new ScriptedModel(), {
      instruction: 'Be kind.',
      generateContentConfig: { temperature: 0 },
      tools: [tool('look', () => 1)],
      subAgents: [llm('clerk', undefined)],
      processors: spied(trace),
    });
    await bench(agent).say('hi');
    expect(trace).toEqual([
      'Basic: config',
      'Tools: tools',
      'Instructions: system',
      'AgentTransfer: system',
      'Contents: contents',
    ]);
  });

  test('they run anew for each step', async () => {
    const trace: string[] = [];
    const model = new ScriptedModel([{ calls: [['look']] }, 'ok']);
    await bench(llm('bot', model, { tools: [tool('look', () => 1)], processors: spied(trace) })).say('hi');
    expect(trace.map((line) => line.split(':')[0])).toEqual(
      [...defaultProcessors, ...defaultProcessors].map(({ name }) => name),
    );
  });

  test('one that fails ends the turn, named, before the model is asked', async () => {
    const model = new ScriptedModel();
    const broken: RequestProcessor = { name: 'Mine', process: () => Promise.reject(new Error('no index')) };
    const events = await bench(llm('bot', model, { processors: [...defaultProcessors, broken] })).say('hi');
    expect(errorOf(events)).toEqual({ code: 'E_HOOK_FAILED', message: 'request processor Mine failed: no index' });
    expect([endOf(events), model.requests]).toEqual(['failed', []]);
  });

  test('own processors may change the request', async () => {
    const model = new ScriptedModel();
    const own: RequestProcessor = {
      name: 'Date',
      process: (_, draft) => {
        draft.systemInstruction += ' Today is Monday.';
        draft.contents = draft.contents.slice(-1);
      },
    };
    const { say } = bench(llm('bot', model, { instruction: 'Hi.', processors: [...defaultProcessors, own] }));
    await say('one');
    await say('two');
    expect(model.requests[1]?.systemInstruction).toBe('Hi. Today is Monday.');
    expect(brief(model.requests[1]?.contents)).toEqual(['user: two']);
  });
});

describe('S0-20 the request', () => {
  test('has model, system instruction, contents, settings, tools by name, the agent and its output schema', async () => {
    const model = new ScriptedModel({ name: 'm-1' });
    const outputSchema = { type: 'object', properties: { ok: { type: 'boolean' } } };
    const look = tool('look', () => 1, { kind: 'read', annotations: { readOnly: true } });
    const seen: unknown[] = [];
    const agent = llm('bot', model, {
      instruction: 'Be kind.',
      tools: [look],
      generateContentConfig: { temperature: 0.2, topK: 3 },
      outputSchema,
      beforeModel: (_, request) => {
        seen.push([...request.tools]);
        return undefined;
      },
    });
    await bench(agent).say('hi');
    expect(model.requests).toEqual([
      {
        model: 'm-1',
        agent: 'bot',
        systemInstruction: 'Be kind.',
        contents: [{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }],
        config: { temperature: 0.2, topK: 3 },
        tools: ['look'],
        outputSchema,
      },
    ]);
    expect(seen).toEqual([
      [['look', expect.objectContaining({ name: 'look', description: 'does look', kind: 'read' })]],
    ]);
  });

  test('settings are copied: a hook that changes them changes one request only', async () => {
    const model = new ScriptedModel();
    const given = { temperature: 0.2 };
    const agent = llm('bot', model, {
      generateContentConfig: given,
      beforeModel: (_, request) => {
        request.config.seed = model.requests.length;
        return undefined;
      },
    });
    const { say } = bench(agent);
    await say('one');
    await say('two');
    expect(model.requests.map(({ config }) => config)).toEqual([
      { temperature: 0.2, seed: 0 },
      { temperature: 0.2, seed: 1 },
    ]);
    expect(given).toEqual({ temperature: 0.2 });
  });

  test('a model by name, an override for the run, the nearest ancestor’s model', async () => {
    const models = new Map(['m-1', 'm-2'].map((name) => [name, new ScriptedModel({ name, strict: false })]));
    const child = llm('child', undefined);
    const fixed = llm('fixed', undefined, { subAgents: [] });
    const agent = new SequentialAgent({
      name: 'all',
      subAgents: [new SequentialAgent({ name: 'inner', subAgents: [child] }), fixed],
    });
    const made = bench(agent, { models: (name) => models.get(name) });
    expect(errorOf(await made.say('hi'))).toMatchObject({
      code: 'E_NO_MODEL',
      message: expect.stringContaining('child'),
    });
    expect(endOf(await made.say('hi', { model: 'm-2' }))).toBe('completed');
    expect(models.get('m-2')?.requests.map(({ agent: who, model }) => [who, model])).toEqual([
      ['child', 'm-2'],
      ['fixed', 'm-2'],
    ]);
    expect(errorOf(await made.say('hi', { model: 'm-9' }))?.message).toContain('m-9');
  });
});

test('a run’s model is for the root and for agents without one of their own', async () => {
  const named = (name: string) => new ScriptedModel({ name });
  const [own, ofRoot, ofRun] = [named('own'), named('root'), named('run')];
  const handing = ownTool('hand', (_, context) => context.transferTo('fixed'));
  const root = llm('root', ofRoot, {
    tools: [handing],
    subAgents: [llm('fixed', own)],
  });
  const made = bench(root, { models: (name) => (name === 'run' ? ofRun : undefined) });
  await made.say('hi', { model: 'run' });
  expect([own, ofRoot, ofRun].map(({ requests }) => requests.map(({ agent }) => agent))).toEqual([[], [], ['root']]);
  const script = new ScriptedModel([{ calls: [['hand']] }]);
  await bench(root, { models: () => script }).say('hi', { model: 'run' });
  expect([own, ofRoot, script].map(({ requests }) => requests.map(({ agent }) => agent))).toEqual([
    ['fixed'],
    [],
    ['root'],
  ]);
});

describe('S0-24 transfer', () => {
  test('the tool and the targets’ text are there only if there are targets', async () => {
    const model = new ScriptedModel();
    const clerk = llm('clerk', undefined, { description: 'sells tea' });
    await bench(llm('root', model, { instruction: 'Hi.', subAgents: [clerk] })).say('hi');
    await bench(llm('alone', model, { instruction: 'Hi.' })).say('hi');
    const [withTargets, without] = model.requests;
    expect(withTargets?.tools).toEqual(['transfer_to_agent']);
    expect(withTargets?.systemInstruction).toMatch(/^Hi\.\n\n.*transfer_to_agent.*\n- clerk: sells tea$/s);
    expect([without?.tools, without?.systemInstruction]).toEqual([[], 'Hi.']);
  });

  test('where the tool is excluded nobody is told to call it', async () => {
    const model = new ScriptedModel();
    const agent = llm('root', model, { instruction: 'Hi.', subAgents: [llm('clerk', undefined)] });
    await bench(agent).say('hi', { excludeTools: ['transfer_to_agent'] });
    expect(model.requests[0]).toMatchObject({ tools: [], systemInstruction: 'Hi.' });
  });
});
