import { expect, test } from 'vitest';
import { fromAgent } from '../../src/adapters/adk/index.ts';
import type { AgentEvent } from '../../src/contracts/index.ts';
import { defineAgentTool, defineTool, hooks } from '../../src/contracts/index.ts';
import {
  createEvent,
  hooksPlugin,
  InMemoryArtifactService,
  InMemoryMemoryService,
  LlmAgent,
  loadArtifactsTool,
  loadMemoryTool,
} from '../../src/runtime/index.ts';
import { run } from '../../src/session/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';

const draw = defineAgentTool({
  name: 'draw',
  description: 'draws',
  inputSchema: { type: 'object' },
  execute: async (_, context) => ({
    version: await context.artifacts.save('plan.txt', {
      mimeType: 'text/plain',
      data: new TextEncoder().encode('a plan'),
    }),
  }),
});

function responses(model: ScriptedModel): Record<string, unknown>[] {
  const last = model.requests.at(-1)?.contents.at(-1)?.parts ?? [];
  return last.flatMap((part) => (part.type === 'function_response' ? [part.response] : []));
}

test('S0-71 load_memory searches what is remembered for this user', async () => {
  const memory = new InMemoryMemoryService();
  const said = createEvent({
    author: 'user',
    content: { role: 'user', parts: [{ type: 'text', text: 'my boat is red' }] },
  });
  await memory.addSession({ app: 'app', userId: 'local', id: 'old' }, [said]);
  const model = new ScriptedModel([{ calls: [['load_memory', { query: 'boat' }]] }, 'red']);
  const agent = new LlmAgent({ name: 'a', model, tools: [loadMemoryTool()] });
  const session = await fromAgent(agent, { services: { memory } }).open({}, { app: 'app' });
  expect((await run(session, 'which colour?')).text).toBe('red');
  expect(responses(model)).toMatchObject([{ memories: [{ content: 'my boat is red', author: 'user' }] }]);
});

test('S0-75 S0-76 a saved artifact is tracked by version, announced, and loaded by name', async () => {
  const model = new ScriptedModel([
    { calls: [['draw']] },
    { calls: [['load_artifacts', { names: ['plan.txt', 'x'] }]] },
    'ok',
  ]);
  const agent = new LlmAgent({ name: 'a', model, tools: [draw, loadArtifactsTool()] });
  const services = { artifacts: new InMemoryArtifactService() };
  const session = await fromAgent(agent, { services }).open({}, { app: 'app' });
  const events: AgentEvent[] = [];
  await run(session, 'draw', { onEvent: (event) => events.push(event) });
  expect(events.find((event) => event.type === 'custom' && event.kind === 'artifact_delta')).toMatchObject({
    data: { 'plan.txt': 1 },
  });
  const said = JSON.stringify(responses(model));
  expect(said).toContain('a plan');
  expect(said).toContain('There is no artifact x');
});

test('S0-76 what is text is loaded as text whatever its type is called, a long one as far as it is of use, a bad name as none', async () => {
  const artifacts = new InMemoryArtifactService();
  const key = { app: 'app', userId: 'local', id: 's' };
  const files: [string, string, string][] = [
    ['a', 'application/json; charset=utf-8', '{"a":1}'],
    ['b', 'application/ld+json', '[]'],
    ['c', 'TEXT/Markdown', '# c'],
    ['d', 'image/svg+xml', '<svg/>'],
    ['e', 'application/yaml', 'e: 1'],
    ['f', 'text/plain', `${'x'.repeat(256 * 1024 - 1)}🚣 and more`],
    ['g', 'image/png', 'png'],
  ];
  for (const [name, mimeType, data] of files) await artifacts.save(key, name, { mimeType, data: Buffer.from(data) });
  const names = [...files.map(([name]) => name), '../g', 'a'];
  const model = new ScriptedModel([{ calls: [['load_artifacts', { names }]] }, 'ok']);
  const agent = new LlmAgent({ name: 'a', model, tools: [loadArtifactsTool()] });
  const source = fromAgent(agent, { services: { artifacts } });
  const result = await run(await source.open({ sessionId: 's', create: true }, { app: 'app' }), 'load');
  expect(result.reason).toBe('completed');
  const [part] = model.requests.at(-1)?.contents.at(-1)?.parts ?? [];
  if (part?.type !== 'function_response') throw new Error('no response');
  const lines = JSON.stringify(part.response).replace(/x{100,}/, 'x…');
  for (const [, , data] of files.slice(0, 5)) expect(lines).toContain(JSON.stringify(data).slice(1, -1));
  expect(lines).toContain('x…\\n(These are the first 262143 of its 262154 characters.)');
  expect(lines).toContain('There is no artifact ../g.');
  expect(part.content?.map(({ type }) => type)).toEqual(['media']);
});

test('S0-75 without a service saving is an error that says so', async () => {
  const model = new ScriptedModel([{ calls: [['draw']] }, 'ok']);
  const session = await fromAgent(new LlmAgent({ name: 'a', model, tools: [draw] })).open({}, { app: 'app' });
  await run(session, 'draw');
  expect(JSON.stringify(responses(model))).toContain('no artifact service');
});

test('S3-58 an interceptor hears all its hook points of a run, with their payloads', async () => {
  const heard: Record<string, string[]> = {};
  const hear = (point: string) => (payload: object) => {
    heard[point] = Object.keys(payload).sort();
  };
  const interceptor = hooks({
    onUserMessage: hear('on_user_message'),
    beforeRun: hear('before_run'),
    afterRun: hear('after_run'),
    onEvent: hear('on_event'),
    beforeAgent: hear('before_agent'),
    afterAgent: hear('after_agent'),
    beforeModel: hear('before_model'),
    afterModel: hear('after_model'),
    beforeTool: hear('before_tool'),
    afterTool: hear('after_tool'),
    onModelError: (payload) => {
      hear('on_model_error')(payload);
      const content = { role: 'model' as const, parts: [{ type: 'text' as const, text: 'recovered' }] };
      return { action: 'proceed', modifications: { replacement: { content } } };
    },
    onToolError: hear('on_tool_error'),
  });
  const fail = defineTool({
    name: 'fail',
    description: 'fails',
    inputSchema: { type: 'object' },
    execute() {
      throw new Error('no');
    },
  });
  const model = new ScriptedModel([{ calls: [['fail']] }, { error: new Error('down') }]);
  const agent = new LlmAgent({ name: 'a', model, tools: [fail] });
  const session = await fromAgent(agent, { plugins: [hooksPlugin(interceptor)] }).open({}, { app: 'app' });
  expect(await run(session, 'go')).toMatchObject({ reason: 'completed', text: 'recovered' });
  expect(heard).toEqual({
    on_user_message: ['context', 'userMessage'],
    before_run: ['context'],
    after_run: ['context'],
    on_event: ['context', 'event'],
    before_agent: ['agent', 'context'],
    after_agent: ['agent', 'context'],
    before_model: ['context', 'llmRequest'],
    after_model: ['context', 'llmResponse'],
    before_tool: ['args', 'context', 'tool'],
    after_tool: ['args', 'context', 'result', 'tool', 'wasAsked'],
    on_model_error: ['context', 'error', 'request'],
    on_tool_error: ['args', 'context', 'error', 'tool'],
  });
});

test.each([undefined, null])('MUT-R16 an artifact that is %s is refused by what it lacks', async (content) => {
  const artifacts = new InMemoryArtifactService();
  const saved = artifacts.save({ app: 'app', userId: 'local', id: 's' }, 'a.txt', content as never);
  await expect(saved).rejects.toMatchObject({
    code: 'E_BAD_INPUT',
    message: 'the mimeType of an artifact is undefined; give one like text/plain',
  });
});
