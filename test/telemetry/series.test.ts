import type { MeterProvider } from '@opentelemetry/api';
import { expect, test } from 'vitest';
import { otelTelemetry } from '../../src/adapters/telemetry/otel.ts';

/** What each instrument was given, by its name. */
function meters() {
  const given = new Map<string, Record<string, unknown>[]>();
  const instrument = (name: string) => {
    const note = (_value: number, attributes: Record<string, unknown>) => {
      given.set(name, [...(given.get(name) ?? []), attributes]);
    };
    return { record: note, add: note };
  };
  const provider = { getMeter: () => ({ createHistogram: instrument, createCounter: instrument }) };
  const valuesOf = (name: string, attribute: string) =>
    new Set((given.get(name) ?? []).map((attributes) => attributes[attribute]));
  return { meterProvider: provider as unknown as MeterProvider, given, valuesOf };
}

const of = (operation: string, more: object) => ({ 'gen_ai.operation.name': operation, ...more });

test('IOP-O5 errors and models that others name make no series without end, and those that are known stay', () => {
  const { meterProvider, given, valuesOf } = meters();
  const telemetry = otelTelemetry({ meterProvider });
  const call = (error: string, model: string) => {
    const span = telemetry.startSpan('chat m', of('chat', { 'gen_ai.request.model': 'm' }), undefined);
    span.end(error, { 'gen_ai.response.model': model, 'gen_ai.usage.input_tokens': 3 });
  };
  for (let n = 0; n < 1_000; n++) call(`E_${n}`, `m-${n}`);
  call('E_0', 'm-0');
  const duration = 'gen_ai.client.inference.duration';
  expect(valuesOf(duration, 'error.type').size).toBe(201);
  expect(valuesOf(duration, 'gen_ai.response.model').size).toBe(201);
  expect(given.get(duration)?.at(-2)).toMatchObject({ 'error.type': '_OTHER', 'gen_ai.response.model': '_OTHER' });
  expect(given.get(duration)?.at(-1)).toMatchObject({ 'error.type': 'E_0', 'gen_ai.response.model': 'm-0' });
  // No count is lost with the name.
  expect(given.get('gen_ai.client.token.usage')).toHaveLength(1_001);
});

test('IOP-O5 sibling: tools that a model makes up', () => {
  const { meterProvider, valuesOf } = meters();
  const telemetry = otelTelemetry({ meterProvider });
  for (let n = 0; n < 300; n++)
    telemetry.startSpan('t', of('execute_tool', { 'gen_ai.tool.name': `tool_${n}` }), undefined).end();
  expect(valuesOf('gen_ai.execute_tool.duration', 'gen_ai.tool.name').size).toBe(201);
});
