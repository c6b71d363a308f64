import type { AgentEvent } from 'coxswain/client';

export interface Trace {
  traceId: string;
  spanId: string;
}

/** Where a call stands in the log, for links to it. */
export interface CallPlaces {
  request?: AgentEvent;
  response?: AgentEvent;
  decisions: AgentEvent[];
  answers: AgentEvent[];
  trace?: Trace;
}

/** One look through a log, for a card that is open. */
export function placesOf(events: readonly AgentEvent[], callId: string): CallPlaces {
  const places: CallPlaces = { decisions: [], answers: [] };
  for (const event of events) {
    if (event.type === 'tool_request' && event.requestId === callId) places.request = event;
    else if (event.type === 'tool_response' && event.requestId === callId) places.response = event;
    else if (event.type === 'elicitation_response' && event.requestId.split('#')[0] === callId)
      places.answers.push(event);
    else if (event.type === 'custom' && event.kind === 'policy_decision' && dataOf(event).callId === callId)
      places.decisions.push(event);
  }
  const trace = places.request && traceOf(events, places.request);
  return trace ? { ...places, trace } : places;
}

/** The trace by which the turn of an event was begun. */
export function traceOf(events: readonly AgentEvent[], { turnId }: AgentEvent): Trace | undefined {
  if (turnId === undefined) return undefined;
  for (const event of events) {
    const text =
      event.turnId === turnId ? (event as { _meta?: { traceparent?: unknown } })._meta?.traceparent : undefined;
    const [, traceId, spanId] = /^[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-/.exec(String(text ?? '')) ?? [];
    if (traceId !== undefined && spanId !== undefined) return { traceId, spanId };
  }
  return undefined;
}

/** The call that an event is about. */
export function callOf(event: AgentEvent): string | undefined {
  if (event.type === 'custom') {
    const { callId, requestId } = dataOf(event);
    return typeof callId === 'string' ? callId : typeof requestId === 'string' ? requestId.split('#')[0] : undefined;
  }
  if (!('requestId' in event) || typeof event.requestId !== 'string') return undefined;
  return event.requestId.split('#')[0];
}

function dataOf({ data }: Extract<AgentEvent, { type: 'custom' }>): { callId?: unknown; requestId?: unknown } {
  return typeof data === 'object' && data !== null ? data : {};
}
