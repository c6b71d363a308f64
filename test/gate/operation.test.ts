import { tracingChannel } from 'node:diagnostics_channel';
import { expect, test, vi } from 'vitest';
import type { Telemetry, TelemetrySpan } from '../../src/contracts/index.ts';
import { Operation } from '../../src/gate/index.ts';

/** Telemetry that notes what it is told. */
function noting() {
  const told: unknown[][] = [];
  const span = { end: (...given: unknown[]) => void told.push(['end', ...given]) } as unknown as TelemetrySpan;
  const startSpan = (...given: unknown[]) => {
    told.push(['start', ...given]);
    return span;
  };
  return { told, span, telemetry: { startSpan } as unknown as Telemetry };
}

test('an operation is a span with its parent, ended once, with what went wrong and what it came to', () => {
  const { told, span, telemetry } = noting();
  const parent = {} as TelemetrySpan;
  const operation = Operation.start('tool', 'execute_tool pay', telemetry, parent, () => ({ a: 1 }));
  expect(operation?.span).toBe(span);
  operation?.end('failed', { b: 2 });
  operation?.end();
  expect(told).toEqual([
    ['start', 'execute_tool pay', { a: 1 }, parent],
    ['end', 'failed', { b: 2 }],
  ]);
});

test('nobody listens: nothing is made', () => {
  const attributes = vi.fn(() => ({}));
  expect(Operation.start('llm', 'chat', undefined, undefined, attributes)).toBeUndefined();
  expect(attributes).not.toHaveBeenCalled();
});

test('subscribers of the channel of its kind are told, without a span', () => {
  const told: unknown[] = [];
  const note = (name: string) => (message: unknown) => void told.push([name, structuredClone(message)]);
  const channel = tracingChannel('coxswain:llm');
  const handlers = {
    start: note('start'),
    end: note('end'),
    error: note('error'),
    asyncStart: note(''),
    asyncEnd: note(''),
  };
  channel.subscribe(handlers);
  try {
    for (const kind of ['agent', 'tool'] as const) {
      expect(Operation.start(kind, 'x', undefined, undefined, () => ({}))).toBeUndefined();
    }
    const operation = (name: string) => Operation.start('llm', name, undefined, undefined, () => ({ a: 1 }));
    const well = operation('well');
    expect(well).toMatchObject({ span: undefined });
    well?.end(undefined, { tokens: 5 });
    well?.end('again');
    operation('badly')?.end('failed');
  } finally {
    channel.unsubscribe(handlers);
  }
  expect(told).toEqual([
    ['start', { name: 'well', attributes: { a: 1 } }],
    ['end', { name: 'well', attributes: { a: 1 }, result: { tokens: 5 } }],
    ['start', { name: 'badly', attributes: { a: 1 } }],
    ['error', { name: 'badly', attributes: { a: 1 }, error: 'failed' }],
    ['end', { name: 'badly', attributes: { a: 1 }, error: 'failed' }],
  ]);
});
