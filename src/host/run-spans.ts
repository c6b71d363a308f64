import type { PendingRequest, TelemetrySpan } from '../contracts/index.ts';
import type { HostedFrame } from './hosted-frame.ts';
import type { RunScope } from './run-scope.ts';
import type { CallersStream } from './subagent-events.ts';
import type { ToolOutcome } from './tool-runner.ts';

/** What is called below a span is told of it, if the tracing system can say it. */
export function traceContextOf({ options }: HostedFrame, span: TelemetrySpan | undefined) {
  const traceContext = span && options.telemetry?.inject?.(span);
  return traceContext && { traceContext };
}

/** The span of a call that this host runs. */
export function callSpan(scope: RunScope, request: PendingRequest, callId: string): TelemetrySpan | undefined {
  const { session, span } = scope;
  const { telemetry } = session.frame.options;
  if (!telemetry) return undefined;
  const attributes = {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': request.name ?? '',
    'gen_ai.tool.call.id': callId,
    'gcp.vertex.agent.session_id': session.id,
  };
  return telemetry.startSpan(`execute_tool ${request.name}`, attributes, span);
}

/** A run as the sub-agent of one call sees it. */
export function within({ below, session }: RunScope, span: TelemetrySpan): CallersStream {
  return {
    options: { ...below.options, ...traceContextOf(session.frame, span) },
    limits: (used) => below.limits(used),
    phase: () => below.phase(),
    see: (event) => below.see(event),
    show: (event) => below.show(event),
  };
}

export async function measured(span: TelemetrySpan, work: Promise<ToolOutcome>): Promise<ToolOutcome> {
  try {
    const outcome = await work;
    const { isError, errorType } = outcome.kind === 'result' ? outcome.result : {};
    span.end(isError ? (errorType ?? 'failed') : undefined, { 'coxswain.outcome': outcome.kind });
    return outcome;
  } catch (error) {
    span.end(error);
    throw error;
  }
}
