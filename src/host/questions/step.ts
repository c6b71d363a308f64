import type {
  ApprovalQuestion,
  DecisionRecord,
  DisplayContent,
  ReportedRequest,
  ToolResult,
} from '../../contracts/index.ts';
import type { Decision, Question } from '../../gate/index.ts';
import { deniedResult, errorResult, hidden, NOT_AGAIN, refusalResult } from '../../gate/index.ts';

/** What a host does about one open request. */
export type Step =
  | {
      kind: 'run';
      decision: Decision;
      rerun: boolean;
      confirmation?: { confirmed: boolean; payload?: unknown };
      /** What those who have approved it were shown. */
      preview?: readonly DisplayContent[];
    }
  | { kind: 'settle'; result: ToolResult; decision?: DecisionRecord }
  /** The host's own question; `hooked`: the arguments of the call as a hook has changed them. */
  | { kind: 'ask'; question: ApprovalQuestion; hooked?: Record<string, unknown> }
  /** The agent's own question, which is in the log. */
  | { kind: 'elicit'; request: ReportedRequest }
  /** For whoever drives the session: a tool that nobody here can run. `decision`: it may. */
  | { kind: 'leave'; decision?: DecisionRecord };

export function refusal(message: string, by: string, reason: string = message): Step {
  const result = deniedResult(message === 'denied' ? undefined : message);
  return { kind: 'settle', result, decision: { outcome: 'denied', by, reason } };
}

/** The turn does without the tool. */
export function notOffered(name: string, requestedBy: string): Step {
  const decision = { requestedBy, outcome: 'denied', by: 'host', reason: 'the turn excludes the tool' } as const;
  return { kind: 'settle', result: errorResult('not_found', `Tool not found: ${name}`), decision };
}

/** It was started and nobody knows what came of it. */
export function notAgain(by: string, why?: string, said = why): Step {
  const because = (text?: string) => (text === undefined ? NOT_AGAIN : `${NOT_AGAIN}: ${text}`);
  const decision: DecisionRecord = { outcome: 'denied', by, reason: because(why) };
  return { kind: 'settle', result: errorResult('interrupted', because(said)), decision };
}

/** The same, where it is refused by more than nobody's word. */
export function refusedAgain({ result, record }: { result: ToolResult; record: DecisionRecord }): Step {
  return notAgain(
    record.by,
    record.reason,
    result.content.map((part) => (part.type === 'text' ? part.text : '')).join(''),
  );
}

/** Whoever was asked wants no answer to be given. */
export function cancelled(by: string): Step {
  const decision: DecisionRecord = { outcome: 'denied', by, reason: 'cancelled' };
  return { kind: 'settle', result: refusalResult('cancelled'), decision };
}

/** A no to a question names the rule that asked, and hides what was to be hidden. */
export function underRule(step: Step, { ruleId, redact }: Question, asked: DecisionRecord['asked']): Step {
  if (step.kind !== 'settle' || !step.decision) return step;
  const decision = { ...(ruleId === undefined ? {} : { ruleId }), asked, ...step.decision };
  return { ...step, decision: redact ? { ...decision, redact: hidden(decision.redact, redact) } : decision };
}
