export type Attributes = Record<string, string | number | boolean | string[]>;

/** One measured operation in somebody's tracing system. */
export interface TelemetrySpan {
  /** Ends it once; `error` is what went wrong. */
  end(error?: unknown, attributes?: Attributes): void;
}

/** A tracing system. Parents are passed, never looked up: generators have no current span of their own. */
export interface Telemetry {
  /** `links`: spans elsewhere that it has to do with, such as those of the turn that it continues. */
  startSpan(
    name: string,
    attributes: Attributes,
    parent: TelemetrySpan | undefined,
    links?: readonly TelemetrySpan[],
  ): TelemetrySpan;
  /** What is active where this is called. */
  active?(): TelemetrySpan | undefined;
  /** A span as a W3C trace context: it crosses from a host to the executors of its agents. */
  inject?(span: TelemetrySpan): Record<string, string>;
  /** Undefined where it holds no valid one. */
  extract?(traceContext: Record<string, string>): TelemetrySpan | undefined;
}
