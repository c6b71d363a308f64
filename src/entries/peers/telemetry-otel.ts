/**
 * Spans and metrics through `@opentelemetry/api`.
 * Stability: stable.
 *
 * @packageDocumentation
 */
export { otelTelemetry } from '../../adapters/telemetry/otel.ts';
