import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Context, ContextManager } from '@opentelemetry/api';
import { context, ROOT_CONTEXT, SpanStatusCode, trace } from '@opentelemetry/api';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { expect, test } from 'vitest';
import { fromAgent } from '../../src/adapters/adk/index.ts';
import { otelTelemetry } from '../../src/adapters/telemetry/otel.ts';
import type { AgentSession, Telemetry } from '../../src/contracts/index.ts';
import { defineTool } from '../../src/contracts/index.ts';
import { allowAll, createHost } from '../../src/index.ts';
import type { OperationMessage } from '../../src/runtime/index.ts';
import { agentTool, LlmAgent } from '../../src/runtime/index.ts';
import { run } from '../../src/session/index.ts';
import type { Script } from '../../src/testing/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { gate, tool } from './kit.ts';

const echo = defineTool({
  name: 'echo',
  description: 'echoes',
  inputSchema: { type: 'object' },
  annotations: { readOnly: true },
  execute: (args) => args,
});

function team(): LlmAgent {
  const model = new ScriptedModel({
    byAgent: {
      boss: [
        {
          calls: [
            ['echo', { x: 1 }],
            ['expert', { request: 'go' }],
          ],
          usage: { inputTokens: 3 },
        },
        'done',
      ],
      expert: ['expert says'],
    },
  });
  const expert = new LlmAgent({ name: 'expert', description: 'knows', model });
  return new LlmAgent({ name: 'boss', model, tools: [echo, agentTool(expert)] });
}

test('S0-77 S0-78 S0-79 S0-80 spans nest by explicit parents: session → turn → agent → model and tools → sub-agent', async () => {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const session = await fromAgent(team(), { telemetry: otelTelemetry({ provider }) }).open({}, { app: 'app' });
  expect((await run(session, 'hi')).reason).toBe('completed');
  await session[Symbol.asyncDispose]();
  const spans = exporter.getFinishedSpans();
  const names = new Map(spans.map((span) => [span.spanContext().spanId, span.name]));
  const tree = spans.map((span) => `${names.get(span.parentSpanContext?.spanId ?? '') ?? '-'} > ${span.name}`).sort();
  expect(tree).toEqual([
    '- > session',
    'execute_tool (merged) > execute_tool echo',
    'execute_tool (merged) > execute_tool expert',
    'execute_tool expert > invoke_agent expert',
    'invoke_agent boss > chat scripted',
    'invoke_agent boss > chat scripted',
    'invoke_agent boss > execute_tool (merged)',
    'invoke_agent expert > chat scripted',
    'session > turn',
    'turn > invoke_agent boss',
  ]);
  const model = spans.find(({ name }) => name === 'chat scripted');
  expect(model?.attributes).toMatchObject({
    'gen_ai.provider.name': 'unknown',
    'gen_ai.request.model': 'scripted',
    'gen_ai.operation.name': 'chat',
    'gcp.vertex.agent.session_id': session.id,
    'gcp.vertex.agent.invocation_id': expect.any(String),
  });
  const tool = spans.find(({ name }) => name === 'execute_tool echo');
  expect(tool?.attributes).toMatchObject({ 'gen_ai.tool.name': 'echo', 'gen_ai.tool.call.id': expect.any(String) });
  expect(JSON.stringify(spans.map(({ attributes }) => attributes))).not.toContain('expert says');
});

/** Finished spans as `parent > name`, sorted. */
function treeOf(exporter: InMemorySpanExporter): string[] {
  const spans = exporter.getFinishedSpans();
  const names = new Map(spans.map((span) => [span.spanContext().spanId, span.name]));
  // Each ended once.
  expect(names.size).toBe(spans.length);
  return spans.map((span) => `${names.get(span.parentSpanContext?.spanId ?? '') ?? '-'} > ${span.name}`).sort();
}

/** A team whose expert is left in the midst of a tool. */
function unfinished() {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const started = gate();
  const wait = defineTool({
    name: 'wait',
    description: 'waits',
    inputSchema: { type: 'object' },
    execute: () => {
      started.open();
      return new Promise(() => {});
    },
  });
  const model = new ScriptedModel({
    byAgent: { boss: [{ calls: [['expert', { request: 'the secret request' }]] }], expert: [{ calls: [['wait']] }] },
  });
  const expert = new LlmAgent({ name: 'expert', description: 'knows', model, tools: [wait] });
  const boss = new LlmAgent({ name: 'boss', model, tools: [agentTool(expert)] });
  const source = fromAgent(boss, { telemetry: otelTelemetry({ provider }) });
  return { exporter, provider, started, session: source.open({}, { app: 'app' }) };
}

const whole = [
  '- > session',
  'execute_tool (merged) > execute_tool expert',
  'execute_tool (merged) > execute_tool wait',
  'execute_tool expert > invoke_agent expert',
  'invoke_agent boss > chat scripted',
  'invoke_agent boss > execute_tool (merged)',
  'invoke_agent expert > chat scripted',
  'invoke_agent expert > execute_tool (merged)',
  'session > turn',
  'turn > invoke_agent boss',
];

test.each<[string, (session: AgentSession, started: Promise<void>) => Promise<void>]>([
  [
    'leaves the loop',
    async (session, started) => {
      const stream = session.stream('hi');
      // It goes on only as long as its consumer asks for more.
      const reading = (async () => {
        while (!(await stream.next()).done);
      })();
      await started;
      await stream.return?.();
      await reading;
    },
  ],
  [
    'aborts',
    async (session, started) => {
      const ended = run(session, 'hi');
      await started;
      await session.abort();
      expect((await ended).reason).toBe('aborted');
    },
  ],
])(
  'F48 a consumer that %s in mid-tool of a sub-agent: the whole tree, every span ended once, by its cause',
  async (_, leave) => {
    const { exporter, started, session } = unfinished();
    await leave(await session, started.opened);
    await (await session)[Symbol.asyncDispose]();
    expect(treeOf(exporter)).toEqual(whole);
    const open = exporter.getFinishedSpans().filter(({ name }) => !['chat scripted', 'session'].includes(name));
    expect(new Set(open.map(({ attributes }) => attributes['error.type']))).toEqual(new Set(['E_ABORTED']));
    const models = exporter.getFinishedSpans().filter(({ name }) => name === 'chat scripted');
    expect(models.map(({ attributes }) => attributes['error.type'])).toEqual([undefined, undefined]);
    expect(
      JSON.stringify(exporter.getFinishedSpans().map(({ attributes, status }) => [attributes, status])),
    ).not.toContain('secret');
  },
);

test('F48 what the caller has active is the parent of the run, and stays what it was between events', async () => {
  context.setGlobalContextManager(new LocalContexts());
  try {
    const exporter = new InMemorySpanExporter();
    const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
    const session = await fromAgent(team(), { telemetry: otelTelemetry({ provider }) }).open({}, { app: 'app' });
    const outer = provider.getTracer('caller').startSpan('request');
    await context.with(trace.setSpan(ROOT_CONTEXT, outer), async () => {
      for await (const _ of session.stream('hi')) expect(trace.getActiveSpan()).toBe(outer);
    });
    outer.end();
    expect(treeOf(exporter)).toContain('request > turn');
  } finally {
    context.disable();
  }
});

test('F48 what a tool throws is in a span by its kind, never by its words', async () => {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const model = new ScriptedModel([{ calls: [['broken']] }, { error: new TypeError('key sk-secret refused') }]);
  const broken = defineTool({
    name: 'broken',
    description: 'breaks',
    inputSchema: { type: 'object' },
    execute: () => Promise.reject(new Error('401 for sk-secret')),
  });
  const agent = new LlmAgent({ name: 'a', model, tools: [broken] });
  await run(await fromAgent(agent, { telemetry: otelTelemetry({ provider }) }).open({}, { app: 'app' }), 'hi');
  const spans = exporter.getFinishedSpans();
  const failed = spans.flatMap(({ name, attributes }) =>
    attributes['error.type'] ? [`${name} ${attributes['error.type']}`] : [],
  );
  expect(failed.sort()).toEqual([
    'chat scripted TypeError',
    'execute_tool broken failed',
    'invoke_agent a E_MODEL',
    'turn failed',
  ]);
  expect(JSON.stringify(spans.map(({ attributes, status, events }) => [attributes, status, events]))).not.toContain(
    'secret',
  );
});

/** Contexts by async local storage, as applications have them. */
class LocalContexts implements ContextManager {
  readonly #store = new AsyncLocalStorage<Context>();

  active(): Context {
    return this.#store.getStore() ?? ROOT_CONTEXT;
  }

  with<A extends unknown[], F extends (...args: A) => ReturnType<F>>(
    within: Context,
    work: F,
    thisArg?: ThisParameterType<F>,
    ...args: A
  ): ReturnType<F> {
    return this.#store.run(within, () => work.call(thisArg as never, ...args));
  }

  bind<T>(_: Context, target: T): T {
    return target;
  }

  enable(): this {
    return this;
  }

  disable(): this {
    return this;
  }
}

test('S0-81 plain subscribers hear start, end and error of model and tool; the error still ends the turn', async () => {
  const heard: string[] = [];
  const listeners = (['llm', 'tool'] as const).flatMap((kind) =>
    (['start', 'end', 'error'] as const).map((point) => {
      const name = `tracing:coxswain:${kind}:${point}`;
      const listener = (message: unknown) => heard.push(`${point} ${(message as OperationMessage).name}`);
      subscribe(name, listener);
      return () => unsubscribe(name, listener);
    }),
  );
  try {
    const model = new ScriptedModel([{ calls: [['echo']] }, { error: new Error('down') }]);
    const session = await fromAgent(new LlmAgent({ name: 'a', model, tools: [echo] })).open({}, { app: 'app' });
    const result = await run(session, 'hi');
    expect(result).toMatchObject({ reason: 'failed', error: { code: 'E_MODEL' } });
    expect(heard).toEqual([
      'start chat scripted',
      'end chat scripted',
      'start execute_tool (merged)',
      'start execute_tool echo',
      'end execute_tool echo',
      'end execute_tool (merged)',
      'start chat scripted',
      'error chat scripted',
      'end chat scripted',
    ]);
  } finally {
    for (const stop of listeners) stop();
  }
});

test('S0-77 S0-81 plain subscribers hear of the tools that a host runs, too', async () => {
  const heard: string[] = [];
  const points = (['start', 'end', 'error'] as const).map((point) => {
    const listener = (message: unknown) => heard.push(`${point} ${(message as OperationMessage).name}`);
    return [`tracing:coxswain:tool:${point}`, listener] as const;
  });
  for (const [name, listener] of points) subscribe(name, listener);
  try {
    const broken = tool('broken', () => Promise.reject(new Error('no')));
    const model = new ScriptedModel([{ calls: [['echo']] }, { calls: [['broken']] }, 'done']);
    const agents = [new LlmAgent({ name: 'a', model })];
    const session = await createHost({ app: 'app', agents, tools: [echo, broken], policy: allowAll() }).open('a');
    await run(session, 'hi');
  } finally {
    for (const [name, listener] of points) unsubscribe(name, listener);
  }
  expect(heard.filter((line) => !line.includes('merged'))).toEqual([
    'start execute_tool echo',
    'end execute_tool echo',
    'start execute_tool broken',
    'error execute_tool broken',
    'end execute_tool broken',
  ]);
});

test('F48 an error is named by its code, or by how the turn ends; what is no name is not told', async () => {
  const kinds = async (...scripts: Script[]) => {
    const exporter = new InMemorySpanExporter();
    const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
    const odd = tool('odd', () => ({ content: [], isError: true, errorType: 'the key is sk-secret' }));
    const agent = new LlmAgent({ name: 'a', model: new ScriptedModel(scripts), tools: [odd] });
    await run(await fromAgent(agent, { telemetry: otelTelemetry({ provider }) }).open({}, { app: 'app' }), 'hi');
    return exporter
      .getFinishedSpans()
      .flatMap(({ name, status, attributes }) =>
        status.code === SpanStatusCode.ERROR ? [`${name}: ${attributes['error.type']}`] : [],
      );
  };
  expect(await kinds({ errorCode: 'http_500', errorMessage: 'secret' })).toEqual([
    'chat scripted: http_500',
    'invoke_agent a: E_MODEL',
    'turn: failed',
  ]);
  expect(await kinds({ text: 'no', finishReason: 'refusal' })).toEqual(['invoke_agent a: refusal']);
  expect(await kinds({ calls: [['odd']] }, 'done')).toEqual(['execute_tool odd: error']);
});

test.each([
  ['startSpan', false],
  ['startSpan', true],
  ['end', false],
  ['end', true],
] as const)(
  'a tracing system whose %s fails breaks nothing, and is told of once (under a host: %s)',
  async (part, hosted) => {
    const fails = () => {
      throw new Error('no collector');
    };
    const telemetry: Telemetry = { startSpan: part === 'startSpan' ? fails : () => ({ end: fails }), active: fails };
    const warnings: string[] = [];
    const warn = (message: string) => void warnings.push(message);
    const agent = new LlmAgent({
      name: 'a',
      model: new ScriptedModel([{ calls: [['echo']] }, 'done']),
      tools: hosted ? [] : [echo],
    });
    const session = hosted
      ? await createHost({ app: 'app', agents: [agent], tools: [echo], policy: allowAll(), telemetry, warn }).open('a')
      : await fromAgent(agent, { telemetry, warn }).open({}, { app: 'app' });
    expect(await run(session, 'hi')).toMatchObject({ reason: 'completed', text: 'done' });
    await session[Symbol.asyncDispose]();
    expect(warnings).toEqual(['the tracing system failed; what it measures continues without it']);
  },
);
