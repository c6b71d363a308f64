import type { AnyTool, ConfirmationRequest, ReportedRequest, ToolDescriptor } from '../../contracts/index.ts';
import { isSameJson } from '../../contracts/index.ts';
import type { Approval, GateCall } from '../../gate/index.ts';
import { MAX_EXPIRES_IN, toolDigest } from '../../gate/index.ts';
import { announcedIn } from '../../session/index.ts';
import { jsonDigest } from './digest.ts';
import type { HostTool } from './tool-registry.ts';

/**
 * An open request in the gate's terms. `agent` is what the host knows the executor by: paths, and what tools of its own
 * are, are its own word, which must not make a tool of one agent that of another.
 */
export function gateCall(request: ReportedRequest, hostTool: HostTool | undefined, agent: string): GateCall {
  const name = request.name ?? '';
  const { tool: described } = announcedIn(request);
  const tool: ToolDescriptor = hostTool?.descriptor ?? { name, description: '', inputSchema: {}, ...described };
  return {
    callId: request.callId ?? request.requestId,
    args: request.args ?? {},
    tool,
    digest: hostTool ? toolDigest(hostTool.descriptor) : ownDigest(agent, request.agentPath, tool),
    source: hostTool?.source ?? `agent:${request.agentPath.at(-1) ?? ''}`,
    agentPath: request.agentPath,
    sessionId: request.sessionId,
  };
}

/** The call with the arguments that its tool's schema makes of those that were announced. */
export function asTaken(call: GateCall, args: Record<string, unknown>): GateCall {
  return isSameJson(args, call.args) ? call : { ...call, args, announced: call.args };
}

/** Of a tool that the agent runs itself: what it announces of it, whoever hands it on. */
const ownDigest = (agent: string, path: readonly string[], tool: ToolDescriptor): string =>
  jsonDigest({ agent, path, tool });

/** The author's word on whether a person must be asked: announced with the call, or the host tool's. */
export function floorOf(request: ReportedRequest, hostTool: HostTool | undefined): AnyTool['needsApproval'] {
  return request.message === undefined ? hostTool?.tool.needsApproval : true;
}

/** What a hook of the agent asks with. An executor may be another program: only what is well-formed counts. */
export function askedByHook(request: ReportedRequest): ConfirmationRequest | undefined {
  const { asked } = announcedIn(request);
  if (!asked) return undefined;
  const { hint, payload, expiresIn } = asked;
  return {
    ...(typeof hint === 'string' ? { hint } : {}),
    ...(payload === undefined ? {} : { payload }),
    ...(typeof expiresIn === 'number' && expiresIn > 0 && expiresIn <= MAX_EXPIRES_IN ? { expiresIn } : {}),
  };
}

/** The yes that is in the log with the call, with the grounds that are on record; it may say other arguments. */
export function approvalOf({ decision }: ReportedRequest): Approval {
  const { by = 'host', ruleId, reason, args } = decision ?? {};
  return {
    by,
    ...(ruleId === undefined ? {} : { ruleId }),
    ...(reason === undefined ? {} : { reason }),
    ...(args ? { args } : {}),
  };
}
