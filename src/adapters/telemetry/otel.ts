import type { Context, Span, TracerProvider } from '@opentelemetry/api';
import { context, createTraceState, isSpanContextValid, ROOT_CONTEXT, SpanStatusCode, trace } from '@opentelemetry/api';
import type { Attributes, Telemetry, TelemetrySpan } from '../../runtime/index.ts';
import { checkOptions, having } from '../../session/index.ts';

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
      this.span.setAttribute('error.type', kindOf(error));
      this.span.setStatus({ code: SpanStatusCode.ERROR });
    }
    this.span.end();
  }
}

/** What a name of an error looks like; other texts may say more. */
const nameForm = /^[\w.:/-]{1,64}$/;

/** What went wrong, by name: a message may hold what no span should. */
function kindOf(error: unknown): string {
  const { code, errorCode, name, reason } = Object(error) as Record<string, unknown>;
  // A provider's answer has a code of its own; a failure without one says how the turn ends.
  const names = error instanceof Error ? [code, name] : [error, code, errorCode, reason];
  return names.find((word): word is string => typeof word === 'string' && nameForm.test(word)) ?? 'error';
}

/**
 * Spans through `@opentelemetry/api`; the application brings the SDK. The parent of a run's first span is whatever is
 * active where it is started; below that parents are passed on explicitly.
 */
export function otelTelemetry(options: OtelOptions = {}): Telemetry {
  checkOptions<OtelOptions>(options, 'otelTelemetry: options', { provider: having('getTracer') });
  const tracer = (options.provider ?? trace).getTracer('coxswain');
  return {
    startSpan(name, attributes, parent, others = []) {
      const within: Context = parent instanceof OtelSpan ? trace.setSpan(ROOT_CONTEXT, parent.span) : context.active();
      const links = others.flatMap((other) => (other instanceof OtelSpan ? { context: other.span.spanContext() } : []));
      return new OtelSpan(tracer.startSpan(name, { attributes, links }, within));
    },
    active() {
      const span = trace.getActiveSpan();
      return span && new OtelSpan(span);
    },
    inject(span) {
      if (!(span instanceof OtelSpan)) return {};
      const { traceId, spanId, traceFlags, traceState } = span.span.spanContext();
      const flags = traceFlags.toString(16).padStart(2, '0');
      const tracestate = traceState?.serialize();
      return { traceparent: `00-${traceId}-${spanId}-${flags}`, ...(tracestate ? { tracestate } : {}) };
    },
    extract({ traceparent, tracestate }) {
      const [, traceId = '', spanId = '', flags = ''] = traceContextForm.exec(traceparent ?? '') ?? [];
      const found = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
      if (!isSpanContextValid(found)) return undefined;
      const traceState = tracestate === undefined ? {} : { traceState: createTraceState(tracestate) };
      return new OtelSpan(trace.wrapSpanContext({ ...found, ...traceState }));
    },
  };
}

const traceContextForm = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;
