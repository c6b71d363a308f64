import type { Attributes } from '../../contracts/index.ts';

export type { Attributes, Telemetry, TelemetrySpan } from '../../contracts/index.ts';
export type { OperationKind, OperationMessage } from '../../gate/index.ts';
export { Operation } from '../../gate/index.ts';

/** Whose run it is. */
export function runAttributes(info: { invocationId: string; sessionId: string }): Attributes {
  return {
    'gen_ai.conversation.id': info.sessionId,
    'gcp.vertex.agent.invocation_id': info.invocationId,
    'gcp.vertex.agent.session_id': info.sessionId,
  };
}
