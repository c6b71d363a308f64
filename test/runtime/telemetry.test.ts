import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { expect, test } from 'vitest';
import { fromAgent } from '../../src/adapters/adk/index.ts';
import { otelTelemetry } from '../../src/adapters/telemetry/otel.ts';
import { defineTool } from '../../src/contracts/index.ts';
import type { OperationMessage } from '../../src/runtime/index.ts';
import { agentTool, LlmAgent } from '../../src/runtime/index.ts';
import { run } from '../../src/session/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';

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

test('S0-77 S0-78 S0-79 S0-80 spans nest by explicit parents: agent → model and tools → sub-agent', async () => {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const session = await fromAgent(team(), { telemetry: otelTelemetry({ provider }) }).open({}, { app: 'app' });
  expect((await run(session, 'hi')).reason).toBe('completed');
  const spans = exporter.getFinishedSpans();
  const names = new Map(spans.map((span) => [span.spanContext().spanId, span.name]));
  const tree = spans.map((span) => `${names.get(span.parentSpanContext?.spanId ?? '') ?? '-'} > ${span.name}`).sort();
  expect(tree).toEqual([
    '- > invoke_agent boss',
    'execute_tool (merged) > execute_tool echo',
    'execute_tool (merged) > execute_tool expert',
    'execute_tool expert > invoke_agent expert',
    'invoke_agent boss > call_llm',
    'invoke_agent boss > call_llm',
    'invoke_agent boss > execute_tool (merged)',
    'invoke_agent expert > call_llm',
  ]);
  const model = spans.find(({ name }) => name === 'call_llm');
  expect(model?.attributes).toMatchObject({
    'gen_ai.system': 'unknown',
    'gen_ai.request.model': 'scripted',
    'gen_ai.operation.name': 'chat',
    'gcp.vertex.agent.session_id': session.id,
    'gcp.vertex.agent.invocation_id': expect.any(String),
  });
  const tool = spans.find(({ name }) => name === 'execute_tool echo');
  expect(tool?.attributes).toMatchObject({ 'gen_ai.tool.name': 'echo', 'gen_ai.tool.call.id': expect.any(String) });
  expect(JSON.stringify(spans.map(({ attributes }) => attributes))).not.toContain('expert says');
});

test('F48 a consumer that leaves at the first event: every span ends once, with the cause', async () => {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const session = await fromAgent(team(), { telemetry: otelTelemetry({ provider }) }).open({}, { app: 'app' });
  for await (const event of session.stream('hi')) if (event.type === 'tool_request') break;
  const spans = exporter.getFinishedSpans();
  expect(spans.map(({ name }) => name)).toContain('invoke_agent boss');
  expect(new Set(spans.map((span) => span.spanContext().spanId)).size).toBe(spans.length);
  expect(spans.find(({ name }) => name === 'invoke_agent boss')?.attributes['error.type']).toBe('E_ABORTED');
});

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
      'start call_llm',
      'end call_llm',
      'start execute_tool (merged)',
      'start execute_tool echo',
      'end execute_tool echo',
      'end execute_tool (merged)',
      'start call_llm',
      'error call_llm',
      'end call_llm',
    ]);
  } finally {
    for (const stop of listeners) stop();
  }
});
