import type { Attributes, Telemetry, TelemetrySpan } from '../contracts/index.ts';

/**
 * The spans of one handle of a session: the session's, from its first turn to its close, and its turns' below it. A
 * turn that is part of somebody else's trace, by trace context or by what is active, stands there instead. Who goes on
 * with a turn stands in the trace in which that was begun, or is linked to it from another one.
 */
export class SessionTrace {
  readonly #telemetry: Telemetry;
  readonly #attributes: Attributes;
  #session: TelemetrySpan | undefined;

  constructor(telemetry: Telemetry, sessionId: string, agent: string) {
    this.#telemetry = telemetry;
    this.#attributes = {
      'gen_ai.agent.name': agent,
      'gen_ai.conversation.id': sessionId,
      'gcp.vertex.agent.session_id': sessionId,
    };
  }

  /** @param begun as which trace context the turn was begun that this one goes on with */
  turn(above: TelemetrySpan | undefined, begun?: Record<string, string>): TelemetrySpan {
    const first = begun && this.#telemetry.extract?.(begun);
    const parent = above ?? this.#telemetry.active?.() ?? this.#session ?? first ?? this.#opened();
    const links = first && parent !== first ? [first] : undefined;
    return this.#telemetry.startSpan('turn', this.#attributes, parent, links);
  }

  end(): void {
    this.#session?.end();
    this.#session = undefined;
  }

  #opened(): TelemetrySpan {
    this.#session ??= this.#telemetry.startSpan('session', this.#attributes, undefined);
    return this.#session;
  }
}

/** Ends the span of a turn by the reason that its stream ended with. */
export function endTurn(span: TelemetrySpan, reason: string): void {
  const error = reason === 'aborted' ? 'E_ABORTED' : reason === 'failed' ? reason : undefined;
  span.end(error, { 'coxswain.end': reason });
}
