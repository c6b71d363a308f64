import type { MeterProvider } from '@opentelemetry/api';
import { otelTelemetry } from '../../../src/adapters/telemetry/otel.ts';
import { fromAgent, LlmAgent, run } from '../../../src/index.ts';
import { ScriptedModel } from '../../../src/testing/index.ts';
import { subject } from '../subject.ts';
import { hold } from '../under-gate.ts';

/** What of the SDK is used here. */
interface Sdk {
  AggregationTemporality: { CUMULATIVE: number };
  InMemoryMetricExporter: new (temporality: number) => { getMetrics(): { scopeMetrics: { metrics: Metric[] }[] }[] };
  PeriodicExportingMetricReader: new (options: object) => { forceFlush(): Promise<void> };
  MeterProvider: new (options: object) => MeterProvider & { shutdown(): Promise<void> };
}

interface Metric {
  descriptor: { name: string; unit: string };
  dataPoints: { value: number | { buckets: { boundaries: number[] } } }[];
}

export default subject({
  name: 'OpenTelemetry SDK for metrics',
  role: 'telemetry',
  packages: { '@opentelemetry/sdk-metrics': '2.12.1', '@opentelemetry/api': '1.9.1' },
  async run({ file, check }) {
    const sdk = (await import(file('@opentelemetry/sdk-metrics/build/src/index.js'))) as Sdk;
    await check('metrics of a turn arrive, with the boundaries of the conventions', async () => {
      const exporter = new sdk.InMemoryMetricExporter(sdk.AggregationTemporality.CUMULATIVE);
      const reader = new sdk.PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 1_000_000 });
      const meterProvider = new sdk.MeterProvider({ readers: [reader] });
      const model = new ScriptedModel([{ deltas: ['he', 'llo'], usage: { inputTokens: 5, outputTokens: 2 } }]);
      const telemetry = otelTelemetry({ meterProvider });
      await run(await fromAgent(new LlmAgent({ name: 'a', model }), { telemetry }).open({}, { app: 'interop' }), 'hi');
      await reader.forceFlush();
      const metrics = exporter
        .getMetrics()
        .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics));
      const found = metrics.find(({ descriptor }) => descriptor.name === 'gen_ai.client.operation.duration');
      const value = found?.dataPoints[0]?.value;
      hold(typeof value === 'object' && value.buckets.boundaries.at(-1) === 81.92, JSON.stringify(metrics));
      await meterProvider.shutdown();
      return `${metrics.length} metrics`;
    });
  },
});
