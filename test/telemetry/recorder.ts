import type { Attributes, MeterProvider, MetricOptions } from '@opentelemetry/api';
import { createNoopMeter } from '@opentelemetry/api';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { otelTelemetry } from '../../src/adapters/telemetry/otel.ts';

export interface Instrument {
  instrument: 'histogram' | 'counter';
  options: MetricOptions;
  points: { value: number; attributes: Attributes }[];
}

/** Spans by the real SDK, and what reaches the instruments of the API for metrics. */
export function recorder() {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const instruments = new Map<string, Instrument>();
  const scopes: unknown[] = [];
  const made =
    (instrument: Instrument['instrument']) =>
    (name: string, options: MetricOptions = {}) => {
      const points: Instrument['points'] = [];
      instruments.set(name, { instrument, options, points });
      const note = (value: number, attributes: Attributes = {}) => void points.push({ value, attributes });
      return { add: note, record: note };
    };
  const meterProvider: MeterProvider = {
    getMeter(...scope) {
      scopes.push(scope);
      return Object.assign(createNoopMeter(), { createHistogram: made('histogram'), createCounter: made('counter') });
    },
  };
  return {
    telemetry: otelTelemetry({ provider, meterProvider }),
    spans: () => exporter.getFinishedSpans(),
    instruments,
    scopes,
    /** What was measured, by metric. */
    points: (name: string) => instruments.get(name)?.points ?? [],
  };
}
