import type { AnyTool, PolicyEvaluator, ReportedRequest } from '../../src/contracts/index.ts';
import { describeTool } from '../../src/gate/index.ts';
import type { PolicyRule } from '../../src/host/policy/index.ts';
import { Confirmations } from '../../src/host/questions/confirmation.ts';
import type { JudgeOptions } from '../../src/host/questions/judge.ts';
import { Judge } from '../../src/host/questions/judge.ts';
import type { Step } from '../../src/host/questions/step.ts';
import type { Grounds } from '../../src/host/tools/grounds.ts';
import type { HostTool } from '../../src/host/tools/tool-registry.ts';

export type Answer = NonNullable<ReportedRequest['answers']>[number];

/** An open call of tool `pay`, of turn `t` of Ann's session. */
export function call(more: Partial<ReportedRequest> = {}): ReportedRequest {
  return {
    requestId: 'c',
    callId: 'c',
    kind: 'tool',
    name: 'pay',
    args: { eur: 5 },
    handledBy: 'host',
    sessionId: 's',
    turnId: 't',
    path: 'bot',
    agentPath: ['bot'],
    requestedAt: new Date().toISOString(),
    ...more,
  } as ReportedRequest;
}

/** Of a call of Ann's. */
export const info = { callId: 'c', sessionId: 's', userId: 'ann', principal: { id: 'ann' }, agentPath: ['bot'] };

/** A tool that the host runs. */
export function hosted(tool: AnyTool, source = 'host'): HostTool {
  return { descriptor: describeTool(tool), tool, source };
}

/** A judge of one session, for Ann, who can be asked. */
export function judgeOf(
  policy: PolicyEvaluator,
  { on, remembered = [], ...more }: Partial<JudgeOptions> & { on?: Partial<Grounds>; remembered?: PolicyRule[] } = {},
) {
  const warnings: string[] = [];
  const options: JudgeOptions = {
    name: 'u/s',
    agent: 'bot',
    base: policy,
    callInfo: (_, callId, signal = new AbortController().signal) => ({ ...info, callId, signal, deps: 'deps' }),
    approvers: undefined,
    rememberedFor: (tool) => remembered.filter((rule) => rule.tool === tool),
    policyTimeoutMs: undefined,
    hooks: undefined,
    hookTimeoutMs: undefined,
    confirmations: new Confirmations(),
    goesOn: () => false,
    holds: () => true,
    keepsLog: true,
    isOfAnother: () => false,
    warn: (message) => void warnings.push(message),
    grounds: () => ({ principal: { id: 'ann' }, policy, permissionMode: undefined, interactive: true, ...on }),
    ...more,
  };
  return { judge: new Judge(options), confirmations: options.confirmations, warnings };
}

/** A step in short: its kind, and the result's text or the id of what is asked. */
export function brief(step: Step): string {
  switch (step.kind) {
    case 'settle': {
      const [part] = step.result.content;
      const text = part?.type === 'text' ? part.text : '';
      return `settle ${step.result.errorType ?? 'fine'} ${text}`;
    }
    case 'ask':
      return `ask ${step.question.requestId}`;
    case 'run':
      return `run${step.rerun ? ' again' : ''}`;
    case 'leave':
      return step.decision ? `leave ${step.decision.outcome}` : 'leave';
    default:
      return step.kind;
  }
}
