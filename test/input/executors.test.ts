import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import {
  Chat,
  cacheToolResults,
  executeCalls,
  extractCalls,
  extractText,
  FunctionTools,
  generateContent,
  generateWithAutoTools,
  streamContent,
  streamWithAutoTools,
} from '../../src/adapters/auto-tools/index.ts';
import { OpenAIChatCompletionsAdapter, WebLLMChatCompletionsAdapter } from '../../src/adapters/batteries/index.ts';
import {
  declareTools,
  toAnthropicOutput,
  toAnthropicSchema,
  toDialect,
  toGeminiSchema,
  toOpenAISchema,
  toStrictSchema,
} from '../../src/adapters/schema/index.ts';
import {
  conformanceTests,
  judge,
  launchExecutor,
  ModelServer,
  parseExpectedFailures,
  parseFixture,
  runConformance,
  sharedTarget,
  targetOfCommand,
  targetOfFactory,
  targetOfSource,
} from '../../src/conformance/index.ts';
import {
  dispatchAgent,
  FileSpoolStore,
  Media,
  Message,
  Records,
  Registry,
  Thought,
  Tool,
  ToolCall,
  ToolRegistry,
  TurnRunner,
} from '../../src/dispatch/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { tool } from '../host/kit.ts';
import { watchRejections } from '../host/rejections.ts';
import { doorsOf, NO_OBJECTS, outcomeOf, RUBBISH, taken } from './rubbish.ts';

type Door = [string, (value: unknown) => unknown];

const folder = mkdtempSync(join(tmpdir(), 'coxswain-input-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const model = new ScriptedModel([]);
const auto = { model };
const autoMembers = ['model', 'models', 'systemInstruction', 'config', 'tools', 'signal', 'policy', 'principal'];
const autoMore = [
  'onApproval',
  'toolTimeoutMs',
  'toolConcurrency',
  'hooks',
  'interceptors',
  'plugins',
  'telemetry',
  'warn',
];
const executor = () => undefined;
const agent = { name: 'a', executor };
const agentMembers = [
  'name',
  'description',
  'executor',
  'tools',
  'systemPrompt',
  'standingInstructions',
  'stash',
  'buses',
];
const agentMore = ['watchdog', 'turnInputPipeline', 'turnOutputPipeline', 'beforeTool'];
const target = { name: 't', start: () => Promise.reject(new Error('no')) };
const requirement = { id: 'CX-X-01', title: 't', tier: 'ADVICE', cites: 'x', check: async () => undefined } as never;
const next = (stream: AsyncIterator<unknown>) => stream.next();

const doors: Door[] = [
  ['generateContent', (value) => generateContent(value as never, auto)],
  ['generateContent options', (value) => generateContent('hi', value as never)],
  ['generateWithAutoTools', (value) => generateWithAutoTools(value as never, auto)],
  ['generateWithAutoTools options', (value) => generateWithAutoTools('hi', value as never)],
  ...doorsOf('generateWithAutoTools', auto, [...autoMembers, ...autoMore, 'turnLimit', 'onPhase'] as 'model'[], (o) =>
    generateWithAutoTools('hi', o),
  ),
  ['streamContent', (value) => next(streamContent(value as never, auto))],
  ['streamContent options', (value) => next(streamContent('hi', value as never))],
  ['streamWithAutoTools', (value) => streamWithAutoTools(value as never, auto)],
  ['streamWithAutoTools options', (value) => streamWithAutoTools('hi', value as never)],
  ['executeCalls', (value) => executeCalls(value as never, {})],
  ['executeCalls options', (value) => executeCalls([], value as never)],
  ['extractText', (value) => extractText(value as never)],
  ['extractCalls', (value) => extractCalls(value as never)],
  ['cacheToolResults', (value) => cacheToolResults(value as never)],
  ...doorsOf('cacheToolResults', {}, ['tools', 'ttlMs', 'maxEntries', 'scope', 'now'] as never[], cacheToolResults),
  ['Chat.new', (value) => Chat.new(value as never)],
  ['Chat.new history', (value) => Chat.new({}, value as never)],
  ['Chat.add', (value) => Chat.new().add(value as never)],
  ['Chat.addTurn', (value) => Chat.new().addTurn(value as never, 'hi')],
  ['Chat.addTurn turn', (value) => Chat.new().addTurn('user', value as never)],
  ['FunctionTools', (value) => new FunctionTools().register(value as never)],
  ['FunctionTools function', (value) => new FunctionTools().register({ name: 'a', description: '' }, value as never)],
  ['OpenAIChatCompletionsAdapter', (value) => new OpenAIChatCompletionsAdapter(value as never)],
  ['OpenAI retry', (value) => new OpenAIChatCompletionsAdapter({ model: 'm', retry: value as never })],
  ['OpenAI media', (value) => new OpenAIChatCompletionsAdapter({ model: 'm', unsupportedMediaPolicy: value as never })],
  ['WebLLMChatCompletionsAdapter', (value) => new WebLLMChatCompletionsAdapter(value as never)],
  ['declareTools', (value) => declareTools(value as never, 'openai')],
  ['declareTools dialect', (value) => declareTools(new Map(), value as never)],
  ...Object.entries({ toAnthropicOutput, toAnthropicSchema, toGeminiSchema, toOpenAISchema, toStrictSchema }).map(
    ([name, convert]): Door => [name, (value) => convert(value as never)],
  ),
  ['toDialect', (value) => toDialect(value as never, 'gemini')],
  ['toDialect dialect', (value) => toDialect({}, value as never)],
  ['dispatchAgent', (value) => dispatchAgent(value as never)],
  ...doorsOf('dispatchAgent', agent, [...agentMembers, ...agentMore] as ['name'], dispatchAgent),
  ['TurnRunner', (value) => new TurnRunner(value as never)],
  ['Message', (value) => new Message(value as never)],
  ['Thought', (value) => new Thought(value as never)],
  ['ToolCall', (value) => new ToolCall(value as never)],
  ['Media', (value) => new Media(value as never)],
  ['Records', (value) => new Records(value as never)],
  ['Registry', (value) => new Registry(value as never)],
  ['Tool', (value) => new Tool(value as never)],
  ['Tool handler', (value) => new Tool({ name: 'a', description: '', handler: value as never })],
  ['Tool.from', (value) => Tool.from(value as never)],
  ['Tool.from options', (value) => Tool.from(tool('a'), value as never)],
  ['ToolRegistry', (value) => new ToolRegistry(value as never)],
  ['register', (value) => new ToolRegistry().register(value as never)],
  ['register collision', (value) => new ToolRegistry().register(tool('a'), value as never)],
  ['merge', (value) => new ToolRegistry().merge(value as never)],
  ['FileSpoolStore', (value) => new FileSpoolStore(value === 'rubbish' ? '/dev/null/x' : (value as never))],
  ['runConformance', (value) => runConformance(value as never, target)],
  ['runConformance target', (value) => runConformance([], value as never)],
  ['runConformance options', (value) => runConformance([], target, value as never)],
  ['judge', (value) => judge(value as never, target)],
  ['judge target', (value) => judge(requirement, value as never)],
  ['conformanceTests', (value) => conformanceTests(value as never)],
  ['conformanceTests options', (value) => conformanceTests(target, value as never)],
  ['sharedTarget', (value) => sharedTarget(value as never)],
  ['targetOfSource', (value) => targetOfSource(value as never, executor as never)],
  ['targetOfSource make', (value) => targetOfSource('t', value as never)],
  ['targetOfFactory make', (value) => targetOfFactory('t', {} as never, value as never)],
  ['targetOfCommand', (value) => targetOfCommand(value as never)],
  ['targetOfCommand options', (value) => targetOfCommand(['true'], value as never)],
  ['launchExecutor', (value) => launchExecutor(value as never)],
  ['launchExecutor cwd', (value) => launchExecutor(['no-such-command'], { cwd: value as never })],
  ['launchExecutor env', (value) => launchExecutor(['no-such-command'], { env: value as never })],
  ['ModelServer', async (value) => (await ModelServer.start(value as never))[Symbol.asyncDispose]()],
  ['parseFixture', (value) => parseFixture(value as never)],
  ['parseExpectedFailures', (value) => parseExpectedFailures(value as never, 'file')],
  ['ScriptedModel', (value) => new ScriptedModel(value as never)],
];

test.each(doors)('%s', async (name, door) => {
  const rejections = watchRejections();
  await taken(name, door);
  expect(await rejections()).toEqual([]);
});

test.each([
  ['generateWithAutoTools options', (value: unknown) => generateWithAutoTools('hi', value as never)],
  ['dispatchAgent', (value: unknown) => dispatchAgent(value as never)],
  ['TurnRunner', (value: unknown) => new TurnRunner(value as never)],
  ['Message', (value: unknown) => new Message(value as never)],
  ['Tool', (value: unknown) => new Tool(value as never)],
  ['register', (value: unknown) => new ToolRegistry().register(value as never)],
  ['judge', (value: unknown) => judge(value as never, target)],
  ['runConformance target', (value: unknown) => runConformance([], value as never)],
  ['OpenAIChatCompletionsAdapter', (value: unknown) => new OpenAIChatCompletionsAdapter(value as never)],
])('%s takes nothing that is no object', async (name, door) => {
  for (const label of NO_OBJECTS) {
    expect(await outcomeOf(`${name} of ${label}`, () => door(RUBBISH[label]?.())), label).toBe('refused');
  }
});
