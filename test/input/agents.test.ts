import { describe, expect, test } from 'vitest';
import type { FromAgentOptions } from '../../src/adapters/adk/index.ts';
import {
  agentTool,
  CustomAgent,
  composeAgent,
  defineTool,
  fromAgent,
  LlmAgent,
  LoopAgent,
  ParallelAgent,
  SequentialAgent,
  subagentTool,
} from '../../src/index.ts';
import type { LlmAgentOptions, RunnerOptions, RunRequest } from '../../src/runtime/index.ts';
import { hooksPlugin, Runner, securityPlugin } from '../../src/runtime/index.ts';
import { bot, tool } from '../host/kit.ts';
import { CALLED, doorsOf, NO_OBJECTS, outcomeOf, RUBBISH, taken } from './rubbish.ts';

type Door = [string, (value: unknown) => unknown];

const leaf = () => bot(['ok']);
const source = fromAgent(leaf());
const inRunner = (options: RunnerOptions) => new Runner(options);
const runner = () => new Runner({ app: 'shop', agent: leaf() });
const ran = async (request: RunRequest) => {
  for await (const _ of runner().run(request));
};
const llm: (keyof LlmAgentOptions)[] = [
  'name',
  'description',
  'model',
  'instruction',
  'globalInstruction',
  'tools',
  'toolsets',
  'subAgents',
  'inputSchema',
  'outputSchema',
  'outputKey',
  'includeContents',
  'generateContentConfig',
  'maxIterations',
  'disallowTransferToParent',
  'disallowTransferToPeers',
  'transferTargets',
  'processors',
  'beforeAgent',
  'beforeModel',
  'afterTool',
];
const ofSource: (keyof FromAgentOptions)[] = [
  'version',
  'executor',
  'describe',
  'constraints',
  'metadata',
  'store',
  'sessions',
  'plugins',
  'models',
  'limits',
  'toolConcurrency',
  'telemetry',
  'services',
  'warn',
  'onClose',
];
const ofRunner: (keyof RunnerOptions)[] = [
  'app',
  'agent',
  'store',
  'sessions',
  'plugins',
  'policy',
  'principal',
  'models',
  'limits',
  'toolConcurrency',
  'toolTimeoutMs',
  'telemetry',
  'services',
  'warn',
];
const ofRun: (keyof RunRequest)[] = [
  'userId',
  'sessionId',
  'input',
  'streamId',
  'tools',
  'excludeTools',
  'model',
  'hostToolExecution',
  'streaming',
  'permissionMode',
  'whilePending',
  'limits',
  'signal',
  'deps',
];
const ofTool = ['name', 'description', 'displayName', 'inputSchema', 'outputSchema', 'kind', 'annotations', '_meta'];

const doors: Door[] = [
  ['LlmAgent', (value) => new LlmAgent(value as never)],
  ...doorsOf('LlmAgent', { name: 'bot' }, llm as ['name'], (options) => new LlmAgent(options)),
  ['CustomAgent', (value) => new CustomAgent(value as never)],
  ...doorsOf(
    'CustomAgent',
    { name: 'a', run: () => undefined },
    ['name', 'run', 'subAgents' as 'run', 'beforeAgent' as 'run'],
    (options) => new CustomAgent(options),
  ),
  ...[SequentialAgent, ParallelAgent, LoopAgent].flatMap((Composite): Door[] => [
    [Composite.name, (value) => new Composite(value as never)],
    ...doorsOf(
      Composite.name,
      { name: 'a', subAgents: [leaf()] },
      ['name', 'subAgents', 'maxIterations' as 'name'],
      (options) => new Composite(options),
    ),
  ]),
  ['composeAgent', (value) => composeAgent(value as never, leaf)],
  ['composeAgent parts', (value) => composeAgent({ name: 'bot' }, value as never)],
  ['composeAgent given', (value) => composeAgent({ name: 'bot' }, () => value as never)],
  ['composeAgent composition', (value) => composeAgent({ name: 'bot', composition: value as never }, leaf)],
  [
    'composeAgent pattern',
    (value) => composeAgent({ name: 'bot', composition: { pattern: value as never, children: [] } }, leaf),
  ],
  [
    'composeAgent children',
    (value) => composeAgent({ name: 'bot', composition: { pattern: 'loop', children: value as never } }, leaf),
  ],
  ['composeAgent subAgents', (value) => composeAgent({ name: 'bot', subAgents: value as never }, leaf)],
  ['agentTool', (value) => agentTool(value as never)],
  ['agentTool options', (value) => agentTool(leaf(), value as never)],
  ['subagentTool', (value) => subagentTool(value as never)],
  ['subagentTool options', (value) => subagentTool(source, value as never)],
  ['subagentTool factory', (value) => subagentTool(source.descriptor, value as never)],
  ['subagentTool name', (value) => subagentTool(source, { name: value as string })],
  ['fromAgent', (value) => fromAgent(value as never)],
  ['fromAgent options', (value) => fromAgent(leaf(), value as never)],
  ...doorsOf('fromAgent', {} as FromAgentOptions, ofSource, (options) => fromAgent(leaf(), options)),
  ...doorsOf('fromAgent', {} as FromAgentOptions, ['plugins'], ({ plugins }) =>
    fromAgent(leaf(), { plugins: [plugins as never] }),
  ),
  ['Runner', (value) => new Runner(value as never)],
  ...doorsOf('Runner', { app: 'shop', agent: leaf() }, ofRunner as ['app'], inRunner),
  ['run', (value) => ran(value as never)],
  ...doorsOf('run', { userId: 'ann', sessionId: 's', input: 'hi' }, ofRun as ['input'], ran),
  ['hooksPlugin', (value) => hooksPlugin(value as never)],
  ['securityPlugin', (value) => securityPlugin(value as never)],
  ['defineTool', (value) => defineTool(value as never)],
  ['a tool', (value) => new LlmAgent({ name: 'bot', tools: [value as never] })],
  ...[...ofTool, 'needsApproval', 'timeoutMs', 'execute', 'preview', 'onUnknownOutcome'].map(
    (member): Door => [
      `a tool's ${member}`,
      (value) => new LlmAgent({ name: 'bot', tools: [{ ...tool('a'), [member]: value }] }),
    ],
  ),
];

const calls = ['composeAgent parts', 'fromAgent.describe'];

test.each(doors)('%s', async (name, door) => {
  await taken(name, door, calls.includes(name) ? CALLED : []);
});

describe('an agent', () => {
  test.each([
    ['LlmAgent', (value: unknown) => new LlmAgent(value as never)],
    ['CustomAgent', (value: unknown) => new CustomAgent(value as never)],
    ['SequentialAgent', (value: unknown) => new SequentialAgent(value as never)],
    ['fromAgent', (value: unknown) => fromAgent(value as never)],
    ['fromAgent options', (value: unknown) => fromAgent(leaf(), value as never)],
    ['agentTool', (value: unknown) => agentTool(value as never)],
    ['Runner', (value: unknown) => new Runner(value as never)],
    ['defineTool', (value: unknown) => defineTool(value as never)],
  ])('%s takes nothing that is no object', async (name, door) => {
    for (const label of NO_OBJECTS) {
      expect(await outcomeOf(`${name} of ${label}`, () => door(RUBBISH[label]?.())), label).toBe('refused');
    }
  });

  test.each([
    ['subAgents', 5],
    ['tools', 5],
    ['tools', [5]],
    ['tools', [{ name: 'a', description: '', needsApproval: 'yes' }]],
    ['tools', [{ name: 'a', description: '', timeoutMs: 'long' }]],
    ['model', 5],
    ['model', {}],
    ['toolsets', [{}]],
    ['transferTargets', 'bob'],
    ['maxIterations', Number.NaN],
    ['includeContents', 'nothing'],
    ['beforeTool', 5],
    ['beforeTol', () => undefined],
  ])('refuses %s %j', (member, value) => {
    const options = { name: 'bot', [member]: value } as unknown as LlmAgentOptions;
    expect(() => new LlmAgent(options)).toThrow(expect.objectContaining({ code: 'E_BAD_INPUT' }));
  });

  test('a plugin that is none is refused where it is given', () => {
    for (const plugins of [[5], [{}], [{ name: 'a', beforeTool: 5 }], [{ name: 'a', policy: {} }]] as never[]) {
      expect(() => fromAgent(leaf(), { plugins })).toThrow(expect.objectContaining({ code: 'E_BAD_INPUT' }));
      const made = () => new Runner({ app: 'shop', agent: leaf(), plugins });
      expect(made).toThrow(expect.objectContaining({ code: 'E_BAD_INPUT' }));
    }
  });
});
