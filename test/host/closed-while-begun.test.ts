import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { expect, test } from 'vitest';
import { otelTelemetry } from '../../src/adapters/telemetry/otel.ts';
import { bot, firstOf, hostOf, refusal, say, whole } from './kit.ts';

test('MUT-H34 a stream that is about to begin when its session is closed begins no turn', async () => {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const { host } = hostOf(bot(['hello']), { telemetry: otelTelemetry({ provider }) });
  const session = await host.open('bot');
  await say(session, 'hi');
  const turns = () => exporter.getFinishedSpans().filter(({ name }) => name === 'turn').length;
  expect(turns()).toBe(1);
  const first = firstOf(session, { kind: 'continue' });
  await session[Symbol.asyncDispose]();
  expect(await refusal(first)).toMatchObject({ code: 'E_SESSION_CLOSED' });
  expect(turns()).toBe(1);
  expect(whole(session).running).toBe(false);
});
