import type { TracingChannel } from 'node:diagnostics_channel';
import { tracingChannel } from 'node:diagnostics_channel';
import type { Attributes, Telemetry, TelemetrySpan } from '../../contracts/index.ts';

export type OperationKind = 'agent' | 'llm' | 'tool';

/** What subscribers of `tracing:coxswain:{agent,llm,tool}:*` are given; one object for all events of an operation. */
export interface OperationMessage {
  readonly name: string;
  readonly attributes: Attributes;
  /** Attributes that are known at the end: finish reason, tokens. */
  result?: Attributes;
  error?: unknown;
}

const channels: Record<OperationKind, TracingChannel<OperationMessage>> = {
  agent: tracingChannel('coxswain:agent'),
  llm: tracingChannel('coxswain:llm'),
  tool: tracingChannel('coxswain:tool'),
};

/**
 * An operation under way, told to both: a span for the tracing system, events for plain subscribers. Contents are in
 * neither.
 */
export class Operation {
  readonly span: TelemetrySpan | undefined;
  readonly #channel: TracingChannel<OperationMessage>;
  readonly #message: OperationMessage;
  #ended = false;

  private constructor(
    kind: OperationKind,
    name: string,
    attributes: Attributes,
    telemetry: Telemetry | undefined,
    parent: TelemetrySpan | undefined,
  ) {
    this.#channel = channels[kind];
    this.#message = { name, attributes };
    this.span = telemetry?.startSpan(name, attributes, parent);
    this.#channel.start.publish(this.#message);
  }

  /** Undefined where nobody listens: that costs two checks. */
  static start(
    kind: OperationKind,
    name: string,
    telemetry: Telemetry | undefined,
    parent: TelemetrySpan | undefined,
    attributes: () => Attributes,
  ): Operation | undefined {
    if (!telemetry && !channels[kind].hasSubscribers) return undefined;
    return new Operation(kind, name, attributes(), telemetry, parent);
  }

  end(error?: unknown, result?: Attributes): void {
    if (this.#ended) return;
    this.#ended = true;
    if (result) this.#message.result = result;
    if (error !== undefined) {
      this.#message.error = error;
      this.#channel.error.publish(this.#message);
    }
    this.#channel.end.publish(this.#message);
    this.span?.end(error, result);
  }
}
