import type { Context, Span, TracerProvider } from '@opentelemetry/api';
import { context, ROOT_CONTEXT, SpanStatusCode, trace } from '@opentelemetry/api';
import { isCoxswainError, messageOf } from '../../contracts/index.ts';
import type { Attributes, Telemetry, TelemetrySpan } from '../../runtime/index.ts';

export interface OtelOptions {
  /** Default: the one that is registered globally. */
  provider?: TracerProvider;
}

class OtelSpan implements TelemetrySpan {
  readonly span: Span;

  constructor(span: Span) {
    this.span = span;
  }

  end(error?: unknown, attributes?: Attributes): void {
    if (attributes) this.span.setAttributes(attributes);
    if (error !== undefined) {
      const code = isCoxswainError(error) ? error.code : 'error';
      this.span.setAttribute('error.type', code);
      this.span.setStatus({ code: SpanStatusCode.ERROR, message: messageOf(error).slice(0, 200) });
    }
    this.span.end();
  }
}

/**
 * Spans through `@opentelemetry/api`; the application brings the SDK. The parent of a run's first span is whatever is
 * active where it is started; below that parents are passed on explicitly.
 */
export function otelTelemetry(options: OtelOptions = {}): Telemetry {
  const tracer = (options.provider ?? trace).getTracer('coxswain');
  return {
    startSpan(name, attributes, parent) {
      const within: Context = parent instanceof OtelSpan ? trace.setSpan(ROOT_CONTEXT, parent.span) : context.active();
      return new OtelSpan(tracer.startSpan(name, { attributes }, within));
    },
  };
}
