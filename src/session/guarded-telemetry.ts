import type { Attributes, Telemetry, TelemetrySpan } from '../contracts/index.ts';

type Warn = (message: string, error?: unknown) => void;

class GuardedSpan implements TelemetrySpan {
  /** Undefined: the tracing system failed to make one. */
  readonly span: TelemetrySpan | undefined;
  readonly #guard: GuardedTelemetry;

  constructor(guard: GuardedTelemetry, span: TelemetrySpan | undefined) {
    this.#guard = guard;
    this.span = span;
  }

  end(error?: unknown, attributes?: Attributes): void {
    this.#guard.attempt(() => this.span?.end(error, attributes));
  }
}

class GuardedTelemetry implements Telemetry {
  readonly #telemetry: Telemetry;
  readonly #warn: Warn;
  #hasFailed = false;

  constructor(telemetry: Telemetry, warn: Warn) {
    this.#telemetry = telemetry;
    this.#warn = warn;
  }

  startSpan(
    name: string,
    attributes: Attributes,
    parent: TelemetrySpan | undefined,
    links?: readonly TelemetrySpan[],
  ): TelemetrySpan {
    const linked = links?.map(spanOf).filter((link) => link !== undefined);
    const span = this.attempt(() => this.#telemetry.startSpan(name, attributes, spanOf(parent), linked));
    return new GuardedSpan(this, span);
  }

  active(): TelemetrySpan | undefined {
    const span = this.attempt(() => this.#telemetry.active?.());
    return span && new GuardedSpan(this, span);
  }

  inject(span: TelemetrySpan): Record<string, string> {
    const own = spanOf(span);
    return (own && this.attempt(() => this.#telemetry.inject?.(own))) ?? {};
  }

  extract(traceContext: Record<string, string>): TelemetrySpan | undefined {
    const span = this.attempt(() => this.#telemetry.extract?.(traceContext));
    return span && new GuardedSpan(this, span);
  }

  attempt<T>(work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      // Told once: what measures may fail as often as there is something to measure.
      if (!this.#hasFailed) this.#warn('the tracing system failed; what it measures continues without it', error);
      this.#hasFailed = true;
      return undefined;
    }
  }
}

function spanOf(span: TelemetrySpan | undefined): TelemetrySpan | undefined {
  return span instanceof GuardedSpan ? span.span : span;
}

/** A tracing system that cannot break what it measures. */
export function guardedTelemetry(telemetry: Telemetry, warn: Warn): Telemetry {
  return telemetry instanceof GuardedTelemetry ? telemetry : new GuardedTelemetry(telemetry, warn);
}
