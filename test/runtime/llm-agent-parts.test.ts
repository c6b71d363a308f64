import { describe, expect, test } from 'vitest';
import type { AnyAgentTool, PolicyEvaluator } from '../../src/contracts/index.ts';
import type { LlmAgentOptions, Toolset } from '../../src/runtime/index.ts';
import {
  AgentTree,
  agentTool,
  LlmAgent,
  LoopAgent,
  mayEscalate,
  SequentialAgent,
  securityPlugin,
} from '../../src/runtime/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { bench, endOf, errorOf, llm, ownTool, responses, said, tool } from './kit.ts';

const plain = (name: string, options: Omit<LlmAgentOptions, 'name'> = {}) =>
  llm(name, new ScriptedModel(['hello']), options);
const refused = (code: string, words?: string) =>
  expect.objectContaining({ code, ...(words === undefined ? {} : { message: expect.stringContaining(words) }) });

describe('an LLM agent', () => {
  test('has what it was made with, and defaults for the rest', () => {
    const agent = new LlmAgent({ name: 'bot' });
    expect(agent).toMatchObject({
      name: 'bot',
      description: '',
      model: undefined,
      subAgents: [],
      toolsets: [],
      includeContents: 'default',
      generateContentConfig: {},
      maxIterations: undefined,
      disallowTransferToParent: false,
      disallowTransferToPeers: false,
      transferTargets: undefined,
      inputSchema: undefined,
      outputSchema: undefined,
      outputKey: undefined,
    });
    expect([agent.tools.size, agent.processors.length]).toEqual([0, 5]);
    const schema = { type: 'object', properties: {} } as const;
    const child = plain('child');
    const own = new LlmAgent({
      name: 'bot',
      description: 'd',
      subAgents: [child],
      inputSchema: schema,
      outputSchema: schema,
      outputKey: 'out',
      includeContents: 'none',
      generateContentConfig: { seed: 1 },
      disallowTransferToParent: true,
      disallowTransferToPeers: true,
      transferTargets: ['child'],
      processors: [],
    });
    expect(own).toMatchObject({
      description: 'd',
      subAgents: [child],
      inputSchema: schema,
      outputSchema: schema,
      outputKey: 'out',
      includeContents: 'none',
      generateContentConfig: { seed: 1 },
      disallowTransferToParent: true,
      disallowTransferToPeers: true,
      transferTargets: ['child'],
      processors: [],
    });
    expect(() => new LlmAgent({ name: 'bot', outputKey: '' })).toThrow(refused('E_STATE_KEY'));
  });

  test('could end a loop with a tool of its own, with a toolset, or with an agent below it', () => {
    const handler = tool('f', () => 1);
    const toolset: Toolset = { name: 'set', tools: () => [] };
    expect([
      plain('a').mayEscalate(),
      plain('a', { tools: [tool('f', undefined)] }).mayEscalate(),
      plain('a', { tools: [agentTool(plain('b'))] }).mayEscalate(),
      plain('a', { tools: [handler] }).mayEscalate(),
      plain('a', { tools: [tool('g', undefined), handler] }).mayEscalate(),
      plain('a', { toolsets: [toolset] }).mayEscalate(),
      plain('a', { subAgents: [plain('b'), plain('c', { tools: [handler] })] }).mayEscalate(),
      plain('a', { subAgents: [plain('b')] }).mayEscalate(),
      new SequentialAgent({ name: 's', subAgents: [plain('b'), plain('c', { tools: [handler] })] }).mayEscalate(),
      new SequentialAgent({ name: 's', subAgents: [plain('b')] }).mayEscalate(),
      new LoopAgent({ name: 'l', subAgents: [plain('c', { tools: [handler] })] }).mayEscalate(),
      mayEscalate({ name: 'x', description: '', subAgents: [], run: async () => ({ kind: 'done' }) }),
    ]).toEqual([false, false, false, true, true, true, true, false, true, false, false, true]);
  });

  test('that hands over needs the names it hands over to, and its tool for itself', () => {
    const tree = (root: Omit<LlmAgentOptions, 'name'>) => () => new AgentTree(plain('root', root));
    const child = () => plain('child');
    expect(tree({ subAgents: [child()], transferTargets: ['child'] })).not.toThrow();
    expect(tree({ subAgents: [child()], transferTargets: ['gone'] })).toThrow(
      refused('E_TRANSFER', 'is not in the tree'),
    );
    const grandchild = plain('middle', { subAgents: [child()] });
    expect(tree({ subAgents: [grandchild], transferTargets: ['child'] })).toThrow(
      refused('E_TRANSFER', 'neither its sub-agent nor'),
    );
    const own = tool('transfer_to_agent', () => 1);
    expect(tree({ subAgents: [child()], tools: [own] })).toThrow(refused('E_DUPLICATE_TOOL', 'agent root'));
    expect(tree({ tools: [own] })).not.toThrow();
  });
});

describe('the tools of a step', () => {
  const asked = async (options: Omit<LlmAgentOptions, 'name'>, run: object = {}, more: object = {}) => {
    const model = new ScriptedModel(['hello', 'again']);
    const { say, warnings } = bench(llm('bot', model, options), more);
    await say('hi', run);
    return { tools: model.requests[0]?.tools.toSorted(), warnings, say, model };
  };
  const descriptor = (name: string, description = 'theirs') => ({
    name,
    description,
    inputSchema: { type: 'object' as const },
  });

  test('are its own, those of its toolsets and the host’s, less those that are excluded', async () => {
    const toolset: Toolset = { name: 'set', tools: async () => [tool('b', () => 1)] };
    const options = { tools: [tool('a', () => 1)], toolsets: [toolset] };
    const { tools, warnings } = await asked(options, {
      tools: [descriptor('c'), descriptor('d')],
      excludeTools: ['d', 'gone'],
    });
    expect([tools, warnings]).toEqual([['a', 'b', 'c'], []]);
    expect((await asked(options, { excludeTools: ['a', 'b'] })).tools).toEqual([]);
  });

  test('of its own with a handler stay its own; others are the host’s where that has them', async () => {
    let runs = 0;
    const own = tool('a', () => runs++);
    const expert = agentTool(plain('expert'));
    const model = new ScriptedModel([{ calls: [['a'], ['expert', { request: 'go' }], ['c']] }, 'done']);
    const agent = llm('bot', model, { tools: [own, expert, tool('c', undefined, { description: 'mine' })] });
    const descriptions: string[] = [];
    const { say } = bench(agent, {
      plugins: [
        {
          name: 'look',
          beforeModel: (_, request) => {
            if (request.agent === 'bot')
              for (const { description } of request.tools.values()) descriptions.push(description);
            return undefined;
          },
        },
      ],
    });
    const events = await say('hi', { tools: ['a', 'expert', 'c'].map((name) => descriptor(name)) });
    expect([runs, endOf(events), Object.keys(responses(events)).toSorted()]).toEqual([1, undefined, ['a', 'expert']]);
    expect(descriptions.filter((words) => words === 'theirs')).toHaveLength(1);
  });

  test('may differ from one stream to the next', async () => {
    const { tools, say, model } = await asked({ tools: [tool('a', () => 1)] }, { tools: [descriptor('b')] });
    expect(tools).toEqual(['a', 'b']);
    await say('again', { tools: [descriptor('c')], excludeTools: ['a'] });
    expect(model.requests[1]?.tools).toEqual(['c']);
  });

  test('MUT-R19 that one stream leaves out are there in the next, of the same list of the host’s', async () => {
    const list = [descriptor('b'), descriptor('c')];
    const { say, model } = await asked({ tools: [tool('a', () => 1)] }, { tools: list, excludeTools: ['b'] });
    await say('again', { tools: list });
    expect(model.requests.map(({ tools }) => tools.toSorted())).toEqual([
      ['a', 'c'],
      ['a', 'b', 'c'],
    ]);
  });

  test.each<[string, unknown, string[], string]>([
    ['no list', 'tools', ['a'], 'toolset set failed: it gave no list of tools'],
    [
      'a tool without a name',
      [{ description: '' }, tool('b', () => 1)],
      ['a', 'b'],
      'toolset set offers a tool without a name',
    ],
    ['a tool with an empty name', [tool('', () => 1)], ['a'], 'toolset set offers a tool without a name'],
    ['nothing in its list', [null], ['a'], 'toolset set offers a tool without a name'],
    ['a tool that is there already', [tool('a', () => 1)], ['a'], 'toolset set offers a, which agent bot has already'],
    [
      'an ill-formed tool',
      [{ ...tool('b', () => 1), inputSchema: { type: 'nonsense' } }],
      ['a'],
      'toolset set offers b, which is ill-formed',
    ],
  ])('are the others where a toolset gives %s', async (_, given, expected, warning) => {
    const toolset = { name: 'set', tools: async () => given } as unknown as Toolset;
    const { tools, warnings } = await asked({ tools: [tool('a', () => 1)], toolsets: [toolset] });
    expect([tools, warnings]).toEqual([expected, [expect.stringContaining(warning)]]);
  });

  test('are not one that would hand over in its place', async () => {
    const toolset: Toolset = { name: 'set', tools: () => [tool('transfer_to_agent', () => 1)] };
    const { tools, warnings, model } = await asked({ toolsets: [toolset], subAgents: [plain('child')] });
    expect([tools, warnings]).toEqual([['transfer_to_agent'], [expect.stringContaining('is left out')]]);
    expect(model.requests[0]?.systemInstruction).toContain('- child: ');
    const alone = await asked({ toolsets: [toolset] });
    expect([alone.tools, alone.warnings]).toEqual([['transfer_to_agent'], []]);
  });

  test('are those that policy has not taken away, which is asked with what holds now; a host has done so itself', async () => {
    const seen: unknown[] = [];
    const policy: PolicyEvaluator = {
      evaluate: () => ({ outcome: 'allow' }),
      getExcluded: async (scope) => {
        seen.push(scope);
        return ['a'];
      },
    };
    const options = { tools: [tool('a', () => 1), tool('b', () => 1)] };
    expect((await asked(options, {}, { plugins: [securityPlugin(policy)] })).tools).toEqual(['b']);
    expect((await asked(options, { permissionMode: 'plan' }, { policy })).tools).toEqual(['b']);
    expect((await asked(options, { hostToolExecution: true }, { policy })).tools).toEqual(['a', 'b']);
    expect(seen).toEqual([{ agent: 'bot' }, { agent: 'bot', permissionMode: 'plan' }]);
  });
});

describe('what the tools of a batch want', () => {
  const signalling = (name: string, work: (context: Parameters<NonNullable<AnyAgentTool['execute']>>[1]) => unknown) =>
    ownTool(name, (_, context) => work(context as never) as never);
  const skip = signalling('skip', (context) => context.skipSummarization());
  const escalate = signalling('escalate', (context) => context.escalate());
  const look = tool('look', () => 1);
  const go = async (names: string[], tools: AnyAgentTool[], options: Omit<LlmAgentOptions, 'name'> = {}) => {
    const model = new ScriptedModel([{ calls: names.map((name) => [name] as const) }, 'spoke on']);
    return said(await bench(llm('bot', model, { tools, ...options })).say('hi')).at(-1);
  };

  test('ends the agent where all want no more words, or one ends the loop', async () => {
    expect(await go(['skip', 'skip'], [skip])).toContain('skip =');
    expect(await go(['skip', 'look'], [skip, look])).toBe('bot: spoke on');
    expect(await go(['look', 'escalate'], [look, escalate])).toContain('=');
    expect(await go(['look'], [look])).toBe('bot: spoke on');
  });

  test('waits for long-running ones without a word, and goes on where one has a word', async () => {
    const silent = tool('silent', () => undefined, { annotations: { longRunning: true } });
    const word = tool('word', () => ({ status: 'sent' }), { annotations: { longRunning: true } });
    expect(await go(['silent', 'silent'], [silent])).toContain('call silent');
    expect(await go(['silent', 'word'], [silent, word])).toBe('bot: spoke on');
    expect(await go(['silent', 'look'], [silent, look])).toBe('bot: spoke on');
  });

  test('hands over to the first that was named, unless its call has failed', async () => {
    const child = (name: string) => llm(name, new ScriptedModel([`${name} here`]));
    const moving = (name: string, to: string, fails = false) =>
      signalling(name, (context) => {
        (context as unknown as { transferTo(to: string): void }).transferTo(to);
        if (fails) throw new Error('no');
      });
    const subAgents = () => [child('amy'), child('bob')];
    const [a, b, broken] = [moving('a', 'amy'), moving('b', 'bob'), moving('broken', 'amy', true)];
    expect(await go(['a', 'b'], [a, b], { subAgents: subAgents() })).toBe('amy: amy here');
    expect(await go(['broken', 'b'], [broken, b], { subAgents: subAgents() })).toBe('bob: bob here');
    expect(await go(['broken'], [broken], { subAgents: subAgents() })).toBe('bot: spoke on');
  });
});

describe('an answer that has to have a shape', () => {
  const outputSchema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } as const;

  test('fails the turn where it has not, and goes on is asked why', async () => {
    const model = new ScriptedModel(['words', '{"n":1}']);
    const { say, state } = bench(llm('bot', model, { outputSchema, outputKey: 'out' }));
    const first = await say('hi');
    expect([endOf(first), errorOf(first)?.code, await state()]).toEqual(['failed', 'E_OUTPUT_SCHEMA', {}]);
    expect(errorOf(first)?.message).toContain('the answer of agent bot does not fit its output schema');
    expect(endOf(await say({ kind: 'continue' }))).toBe('completed');
    expect(JSON.stringify(model.requests[1]?.contents.at(-1))).toContain('Answer again, with nothing but JSON');
    expect(await state()).toEqual({ out: { n: 1 } });
  });

  test('may be a hook’s words of any shape', async () => {
    const given = bench(
      llm('bot', new ScriptedModel([]), {
        outputSchema,
        beforeAgent: () => ({ role: 'model', parts: [{ type: 'text', text: 'words' }] }),
      }),
    );
    expect(endOf(await given.say('hi'))).toBe('completed');
  });
});
