import type { ReportedRequest, TelemetrySpan } from '../../contracts/index.ts';
import { Operation } from '../../gate/index.ts';
import type { CallersStream, HostedFrame } from '../frame/index.ts';
import type { ToolOutcome } from '../tools/index.ts';
import type { RunBase } from './run-base.ts';

/** What is called below a span is told of it, if the tracing system can say it. */
export function traceContextOf({ options }: HostedFrame, span: TelemetrySpan | undefined) {
  const traceContext = span && options.telemetry?.inject?.(span);
  return traceContext && Object.keys(traceContext).length > 0 ? { traceContext } : undefined;
}

/** A call that this host runs, for the tracing system and for plain subscribers. Undefined where nobody listens. */
export function callOperation(scope: RunBase, request: ReportedRequest, callId: string): Operation | undefined {
  const { session, span } = scope;
  return Operation.start('tool', `execute_tool ${request.name}`, session.frame.options.telemetry, span, () => ({
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': request.name ?? '',
    'gen_ai.tool.type': 'function',
    'gen_ai.tool.call.id': callId,
    'gen_ai.agent.name': session.descriptor.name,
    'gen_ai.conversation.id': session.id,
    'gcp.vertex.agent.session_id': session.id,
  }));
}

/** A run as the sub-agent of one call sees it. */
export function within({ below, session }: RunBase, span: TelemetrySpan): CallersStream {
  return {
    options: { ...below.options, ...traceContextOf(session.frame, span) },
    limits: (used) => below.limits(used),
    phase: () => below.phase(),
    see: (event) => below.see(event),
    show: (event) => below.show(event),
  };
}

export async function measured(operation: Operation, work: Promise<ToolOutcome>): Promise<ToolOutcome> {
  try {
    const outcome = await work;
    const { isError, errorType } = outcome.kind === 'result' ? outcome.result : {};
    operation.end(isError ? (errorType ?? 'failed') : undefined, { 'coxswain.outcome': outcome.kind });
    return outcome;
  } catch (error) {
    operation.end(error);
    throw error;
  }
}
