import type {
  AnyTool,
  ConfirmationRequest,
  DecisionRecord,
  PendingRequest,
  ToolDescriptor,
} from '../contracts/index.ts';
import type { Approval, GateCall, Question } from '../gate/index.ts';
import { errorResult } from '../gate/index.ts';
import type { Step } from './judge.ts';
import type { HostTool } from './tool-registry.ts';

/** The author's word on whether a person must be asked: announced with the call, or the host tool's. */
export function floorOf(request: PendingRequest, hostTool?: HostTool): AnyTool['needsApproval'] {
  return request.message === undefined ? hostTool?.tool.needsApproval : true;
}

export function isPolicyQuestion(requestId: string): boolean {
  return /#policy(?:\.\d+)?$/.test(requestId);
}

export function gateCall(request: PendingRequest, hostTool: HostTool | undefined): GateCall {
  const name = request.name ?? '';
  const described = request.context?.tool as Partial<ToolDescriptor> | undefined;
  const tool: ToolDescriptor = hostTool?.descriptor ?? { name, description: '', inputSchema: {}, ...described };
  return {
    callId: request.callId ?? request.requestId,
    args: request.args ?? {},
    tool,
    source: hostTool?.source ?? `agent:${request.agentPath.at(-1) ?? ''}`,
    agentPath: request.agentPath,
    sessionId: request.sessionId,
  };
}

export function approvalOf(request: PendingRequest): Approval {
  const { decision } = request;
  return { by: decision?.by ?? 'host', ...(decision?.args ? { args: decision.args } : {}) };
}

export function hintOf(request: ConfirmationRequest): { hint?: string; payload?: unknown } {
  return {
    ...(request.hint === undefined ? {} : { hint: request.hint }),
    ...(request.payload === undefined ? {} : { payload: request.payload }),
  };
}

export function expiry(request: PendingRequest, question: Question): number | undefined {
  return question.expiresIn === undefined ? undefined : Date.parse(request.requestedAt) + question.expiresIn * 1000;
}

export function refusal(message: string, by: string, reason: string = message): Step {
  const text = message === 'denied' ? message : `denied: ${message}`;
  return { kind: 'settle', result: errorResult('denied', text), decision: { outcome: 'denied', by, reason } };
}

/** It was started and nobody knows what came of it. */
export function notAgain(by: string, why?: string): Step {
  const reason = `its outcome is unknown; it was not run again${why === undefined ? '' : `: ${why}`}`;
  return { kind: 'settle', result: errorResult('interrupted', reason), decision: { outcome: 'denied', by, reason } };
}

export async function unknownOutcome(
  tool: AnyTool,
  callId: string,
  args: Record<string, unknown>,
  warn: (message: string, error?: unknown) => void,
): Promise<'retry' | 'ask' | { result: unknown }> {
  try {
    return (await tool.onUnknownOutcome?.({ callId, args })) ?? 'ask';
  } catch (error) {
    warn(`${tool.name}.onUnknownOutcome failed; a person is asked`, error);
    return 'ask';
  }
}

/** A no to a question names the rule that asked, and hides what was to be hidden. */
export function underRule(step: Step, { ruleId, redact }: Question, asked: DecisionRecord['asked']): Step {
  if (step.kind !== 'settle' || !step.decision) return step;
  const decision = { ...(ruleId === undefined ? {} : { ruleId }), asked, ...step.decision };
  return { ...step, decision: redact ? { ...decision, redact: hidden(decision.redact, redact) } : decision };
}

export function hidden(...lists: readonly (readonly string[] | undefined)[]): string[] {
  return [...new Set(lists.flatMap((list) => list ?? []))];
}
