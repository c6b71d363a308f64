import type { ApprovalRequest, ReportedRequest } from './approvals.ts';

/** What every open request says. */
type RequestBase = Pick<
  ReportedRequest,
  | 'requestId'
  | 'sessionId'
  | 'turnId'
  | 'started'
  | 'running'
  | 'detached'
  | 'path'
  | 'agentPath'
  | 'threadId'
  | 'context'
  | 'requestedAt'
  | 'requestedBy'
  | 'permissionMode'
  | 'expiresAt'
  | 'decision'
  | 'questions'
  | 'answers'
>;

/** Which call it is about. */
interface OfCall {
  callId: string;
  name: string;
  args: Record<string, unknown>;
  handledBy?: 'host' | 'agent' | undefined;
}

/** A call that waits for its result: of whoever runs it elsewhere, or of a caller who brought the tool. */
export interface WaitingCall extends RequestBase, OfCall {
  kind: 'tool';
  elicitation?: undefined;
  message?: string;
  approval?: undefined;
}

/** A question to a person about one call: bound to exactly what is shown. `rerun_unknown`: whether it runs once more. */
export interface ApprovalQuestion extends RequestBase, OfCall {
  kind: 'elicitation' | 'rerun_unknown';
  elicitation: 'tool_confirmation' | 'rerun_unknown';
  message: string;
  approval: ApprovalRequest;
  requestedSchema?: undefined;
}

/** Where no host asks: whether a call that was cut off runs once more. */
export interface RerunQuestion extends RequestBase, OfCall {
  kind: 'rerun_unknown';
  elicitation: 'rerun_unknown';
  message: string;
  approval?: undefined;
  requestedSchema?: undefined;
}

/** A tool of the agent needs a credential. */
export interface CredentialQuestion extends RequestBase, Partial<OfCall> {
  kind: 'elicitation';
  elicitation: 'auth_required';
  message: string;
  approval?: undefined;
  requestedSchema?: ReportedRequest['requestedSchema'];
}

/** The agent, or a tool of its own, asks for a yes or for words. */
export interface AgentQuestion extends RequestBase, Partial<OfCall> {
  kind: 'elicitation';
  elicitation: 'tool_confirmation' | 'clarification' | 'user_approval' | `_${string}`;
  message: string;
  approval?: undefined;
  /** The form; absent: yes or no. */
  requestedSchema?: ReportedRequest['requestedSchema'];
}

/** What an agent asks by itself, about a call or not. */
export type AgentElicitation = CredentialQuestion | AgentQuestion | RerunQuestion;

/**
 * An open request as callers are given it. `kind` separates a call from a question, `approval` is there where a person is asked
 * about exactly one call, and `elicitation` says what an agent's own question is.
 */
export type OpenRequest = WaitingCall | ApprovalQuestion | AgentElicitation;

/**
 * An open request of whatever executor, with the members that its kind has. What an executor leaves out is filled in: the
 * call's id is the request's, its arguments are none, a question without words is empty.
 */
export function openRequestOf(request: ReportedRequest): OpenRequest {
  const { kind, approval, elicitation, requestId, callId = requestId, name = '', args = {}, message } = request;
  if (kind === 'tool' && !approval) return { ...request, kind, callId, name, args } as WaitingCall;
  const isRerun = kind === 'rerun_unknown';
  if (!approval && !isRerun) {
    const asked = elicitation ?? (kind === 'elicitation' ? 'clarification' : kind);
    return { ...request, kind: 'elicitation', elicitation: asked, message: message ?? '' } as AgentElicitation;
  }
  const about = { callId, name, args, message: message ?? approval?.title ?? '' };
  return isRerun
    ? ({ ...request, ...about, kind, elicitation: kind } as ApprovalQuestion | RerunQuestion)
    : ({ ...request, ...about, kind: 'elicitation', elicitation: 'tool_confirmation' } as ApprovalQuestion);
}
