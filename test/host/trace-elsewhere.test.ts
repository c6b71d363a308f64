import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { expect, test } from 'vitest';
import { otelTelemetry } from '../../src/adapters/telemetry/otel.ts';
import type { AgentHost } from '../../src/index.ts';
import { fromAgent, InMemorySessionService } from '../../src/index.ts';
import { elsewhere } from '../runtime/elsewhere.ts';
import { bot, hostOf, notingTool, only, policyOf, say } from './kit.ts';

/** Two processes over one store, each with its own spans. */
function processes() {
  const store = new InMemorySessionService();
  const pay = notingTool('pay');
  return ['asks', 'answers'].map((name) => {
    const exporter = new InMemorySpanExporter();
    const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
    const { host } = hostOf(bot(name === 'asks' ? [{ calls: [['pay', {}]] }] : ['Paid.']), {
      store: elsewhere(store),
      tools: [pay.tool],
      policy: policyOf({ pay: 'ask' }),
      telemetry: otelTelemetry({ provider }),
    });
    return { host, turns: () => exporter.getFinishedSpans().filter(({ name: span }) => span === 'turn') };
  }) as { host: AgentHost; turns: () => ReturnType<InMemorySpanExporter['getFinishedSpans']> }[];
}

test('APP-F10 a turn that is approved elsewhere stays in its trace; in a trace of its own it is linked', async () => {
  for (const traceparent of [undefined, `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`]) {
    const [asks, answers] = processes();
    if (!asks || !answers) return;
    await say(await asks.host.open('bot', { sessionId: 's', create: true }), 'go');
    const session = await answers.host.open('bot', { sessionId: 's' });
    const answer = { kind: 'tool_approval', requestId: (await only(session)).requestId } as const;
    await say(session, answer, traceparent === undefined ? {} : { traceContext: { traceparent } });
    const [first] = asks.turns();
    const [second] = answers.turns();
    expect(first?.attributes['coxswain.end']).toBe('input_required');
    const { traceId, spanId } = first?.spanContext() ?? {};
    if (traceparent === undefined) {
      expect(second?.spanContext().traceId).toBe(traceId);
      expect(second?.parentSpanContext?.spanId).toBe(spanId);
      expect(second?.links).toEqual([]);
    } else {
      expect(second?.spanContext().traceId).toBe('a'.repeat(32));
      expect(second?.links.map(({ context }) => [context.traceId, context.spanId])).toEqual([[traceId, spanId]]);
    }
  }
});

test('APP-F10 without a host, too: the log knows where its turn began', async () => {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const store = new InMemorySessionService();
  const open = async (model: Parameters<typeof bot>[0]) =>
    fromAgent(bot(model), { telemetry: otelTelemetry({ provider }) }).open(
      { sessionId: 's', create: true },
      { app: 'shop', store: elsewhere(store) },
    );
  const first = await open(['Hello.']);
  await say(first, 'go');
  const [turn] = exporter.getFinishedSpans().filter(({ name }) => name === 'turn');
  const standing = await (await open(['unused'])).standing?.();
  const { traceId, spanId } = turn?.spanContext() ?? {};
  expect(standing?.traceContext).toEqual({ traceparent: `00-${traceId}-${spanId}-01` });
});
