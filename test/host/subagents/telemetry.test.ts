import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { expect, test } from 'vitest';
import { otelTelemetry } from '../../../src/adapters/telemetry/otel.ts';
import type { AgentSession } from '../../../src/contracts/index.ts';
import { defineTool } from '../../../src/contracts/index.ts';
import { allowAll, run } from '../../../src/index.ts';
import { gate } from '../../runtime/kit.ts';
import { notingTool, policyOf, say } from '../kit.ts';
import { askExpert, team } from './kit.ts';

function exporting() {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  return { exporter, telemetry: otelTelemetry({ provider }) };
}

/** Finished spans as `parent > name`, agents named, sorted. */
function treeOf(exporter: InMemorySpanExporter): string[] {
  const spans = exporter.getFinishedSpans();
  const nameOf = ({ name, attributes }: (typeof spans)[number]) =>
    name === 'turn' || name === 'session' ? `${name} ${attributes['gen_ai.agent.name']}` : name;
  const names = new Map(spans.map((span) => [span.spanContext().spanId, nameOf(span)]));
  expect(names.size).toBe(spans.length);
  expect(new Set(spans.map((span) => span.spanContext().traceId)).size).toBe(1);
  return spans.map((span) => `${names.get(span.parentSpanContext?.spanId ?? '') ?? '-'} > ${nameOf(span)}`).sort();
}

test('F48 S3-56 a sub-agent’s spans stand below its caller’s call, also when it goes on after a question', async () => {
  const { exporter, telemetry } = exporting();
  const pay = notingTool('pay');
  const { host } = team({
    boss: [askExpert, 'done'],
    expert: [{ calls: [['pay', { n: 1 }]] }, 'paid with sk-secret'],
    tools: [pay.tool],
    host: { policy: policyOf({ pay: 'ask' }), telemetry },
  });
  const session = await host.open('boss');
  await say(session, 'pay');
  const [question] = await session.pending();
  const answer = { kind: 'tool_approval', requestId: String(question?.requestId) } as const;
  expect((await run(session, answer)).reason).toBe('completed');
  await session[Symbol.asyncDispose]();
  // An agent is entered again for what the host has brought.
  expect([...new Set(treeOf(exporter))]).toEqual([
    '- > session boss',
    'execute_tool expert > turn expert',
    'invoke_agent boss > chat scripted',
    'invoke_agent expert > chat scripted',
    'session boss > turn boss',
    'turn boss > execute_tool expert',
    'turn boss > invoke_agent boss',
    'turn expert > execute_tool pay',
    'turn expert > invoke_agent expert',
  ]);
  expect(JSON.stringify(exporter.getFinishedSpans().map(({ attributes }) => attributes))).not.toContain('secret');
});

test.each<[string, (session: AgentSession, started: Promise<void>) => Promise<void>]>([
  [
    'leaves',
    async (session, started) => {
      const stream = session.stream('hi');
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
])('F48 a consumer that %s while a sub-agent’s tool runs: the whole tree, each span ended once', async (_, leave) => {
  const { exporter, telemetry } = exporting();
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
  const { host } = team({
    boss: [askExpert],
    expert: [{ calls: [['wait']] }],
    tools: [wait],
    host: { policy: allowAll(), telemetry },
  });
  const session = await host.open('boss');
  await leave(session, started.opened);
  await host.close();
  const tree = new Set(treeOf(exporter));
  for (const edge of [
    '- > session boss',
    'session boss > turn boss',
    'turn boss > invoke_agent boss',
    'invoke_agent boss > chat scripted',
    'turn boss > execute_tool expert',
    'execute_tool expert > turn expert',
    'turn expert > invoke_agent expert',
    'turn expert > execute_tool wait',
  ]) {
    expect(tree).toContain(edge);
  }
  const turns = exporter.getFinishedSpans().filter(({ name }) => name === 'turn');
  expect(new Set(turns.map(({ attributes }) => attributes['error.type']))).toEqual(new Set(['E_ABORTED']));
});

test('S0-78 a turn belongs to the trace that it was asked for in', async () => {
  const { exporter, telemetry } = exporting();
  const { host } = team({ boss: ['hi'], expert: [], host: { telemetry } });
  const session = await host.open('boss');
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
  await say(session, 'hello', { traceContext: { traceparent } });
  const turn = exporter.getFinishedSpans().find(({ name }) => name === 'turn');
  expect(turn?.spanContext().traceId).toBe('a'.repeat(32));
  expect(turn?.parentSpanContext?.spanId).toBe('b'.repeat(16));
  await say(session, 'hello', { traceContext: { traceparent: 'no trace' } });
  expect(exporter.getFinishedSpans().filter(({ name }) => name === 'turn')).toHaveLength(2);
});
