import type { Context, MeterProvider, Span, TracerProvider } from '@opentelemetry/api';
import {
  context,
  createTraceState,
  isSpanContextValid,
  metrics,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { PACKAGE_VERSION } from '../../contracts/index.ts';
import type { Attributes, Telemetry, TelemetrySpan } from '../../runtime/index.ts';
import { checkOptions, having } from '../../session/index.ts';
import { GenAiMetrics } from './genai-metrics.ts';

export interface OtelOptions {
  /** Of spans. Default: the one that is registered globally. */
  provider?: TracerProvider;
  /** Of metrics. Default: the one that is registered globally when something is measured. */
  meterProvider?: MeterProvider;
}

/** The name of what measures, and its version. */
const SCOPE = ['coxswain', PACKAGE_VERSION] as const;

/** Told of an operation that has ended. */
type Measure = (attributes: Attributes, seconds: number, errorType: string | undefined) => void;

class OtelSpan implements TelemetrySpan {
  readonly span: Span;
  readonly #ended: ((attributes: Attributes | undefined, errorType: string | undefined) => void) | undefined;

  /** @param ended absent: a span of somebody else */
  constructor(span: Span, ended?: (attributes: Attributes | undefined, errorType: string | undefined) => void) {
    this.span = span;
    this.#ended = ended;
  }

  end(error?: unknown, attributes?: Attributes): void {
    const errorType = error === undefined ? undefined : kindOf(error);
    if (attributes) this.span.setAttributes(attributes);
    if (errorType !== undefined) {
      this.span.setAttribute('error.type', errorType);
      this.span.setStatus({ code: SpanStatusCode.ERROR });
    }
    this.span.end();
    this.#ended?.(attributes, errorType);
  }
}

/** Metrics of whichever provider there is when something ends: the API hands none through that is registered later. */
function measuring(given: MeterProvider | undefined): Measure {
  let known: { provider: MeterProvider; made: GenAiMetrics } | undefined;
  return (...told) => {
    const provider = given ?? metrics.getMeterProvider();
    if (known?.provider !== provider) known = { provider, made: new GenAiMetrics(provider.getMeter(...SCOPE)) };
    known.made.record(...told);
  };
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
 * Spans and metrics through `@opentelemetry/api`, by the conventions for generative AI; the application brings the SDK.
 * The parent of a run's first span is whatever is
 * active where it is started; below that parents are passed on explicitly.
 * @example
 * ```ts
 * import { createHost, LlmAgent } from 'coxswain';
 * import { otelTelemetry } from 'coxswain/telemetry/otel';
 *
 * const clerk = new LlmAgent({ name: 'clerk', model: 'gpt-5' });
 * createHost({ app: 'shop', agents: [clerk], telemetry: otelTelemetry() });
 * ```
 */
export function otelTelemetry(options: OtelOptions = {}): Telemetry {
  checkOptions<OtelOptions>(options, 'otelTelemetry: options', {
    provider: having('getTracer'),
    meterProvider: having('getMeter'),
  });
  const tracer = (options.provider ?? trace).getTracer(...SCOPE);
  const measure = measuring(options.meterProvider);
  return {
    startSpan(name, attributes, parent, others = []) {
      const within: Context = parent instanceof OtelSpan ? trace.setSpan(ROOT_CONTEXT, parent.span) : context.active();
      const links = others.flatMap((other) => (other instanceof OtelSpan ? { context: other.span.spanContext() } : []));
      const operation = attributes['gen_ai.operation.name'];
      const kind = operation === 'chat' ? SpanKind.CLIENT : SpanKind.INTERNAL;
      const span = tracer.startSpan(name, { attributes, links, kind }, within);
      if (operation === undefined) return new OtelSpan(span);
      const startedAt = performance.now();
      return new OtelSpan(span, (more, errorType) =>
        measure({ ...attributes, ...more }, (performance.now() - startedAt) / 1000, errorType),
      );
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
