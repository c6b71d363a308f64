/**
 * Spans and metrics through `@opentelemetry/api`.
 * Stability: stable.
 *
 * @packageDocumentation
 */
export type { OtelOptions } from '../../adapters/telemetry/otel.ts';
export { otelTelemetry } from '../../adapters/telemetry/otel.ts';
