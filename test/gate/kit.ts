import { expect } from 'vitest';
import type {
  AnyTool,
  PolicyDecision,
  PolicyEvaluator,
  PolicyRequest,
  ToolCallContext,
  ToolDescriptor,
} from '../../src/contracts/index.ts';
import type { Decision, GateCall, GateRules, Verdict } from '../../src/gate/index.ts';
import { decide, ensureValidator, validateArgs } from '../../src/gate/index.ts';

await ensureValidator();

export const descriptor: ToolDescriptor = { name: 'pay', description: 'pays', inputSchema: { type: 'object' } };

export function gateCall(extra: Partial<GateCall> = {}): GateCall {
  return { callId: 'c1', args: {}, tool: descriptor, source: 'host', agentPath: ['bot'], sessionId: 's', ...extra };
}

/** Rules with a check of arguments that takes what the schema of the tool does. */
export function rules(extra: Partial<GateRules> = {}): GateRules {
  return { validate: (args) => validateArgs({ inputSchema: descriptor.inputSchema ?? {} }, args), ...extra };
}

/** A genuine decision that lets a call run. */
export async function approved(call: GateCall = gateCall()): Promise<Decision> {
  const verdict: Verdict = await decide(call, rules());
  if (verdict.kind !== 'run') throw new Error(`the call is not let run: ${verdict.kind}`);
  return verdict.decision;
}

export function contextOf(callId: string, extra: Partial<ToolCallContext<never>> = {}): ToolCallContext<never> {
  const { signal } = new AbortController();
  return { callId, signal, progress() {}, ...extra } as ToolCallContext<never>;
}

/** A tool with a handler, that takes anything. */
export function toolOf(execute: (args: unknown, context: ToolCallContext<never>) => unknown): AnyTool {
  return { ...descriptor, execute } as AnyTool;
}

/** A policy that notes what it is asked, and says so in turn; the last word stands. */
export function noting(...words: Partial<PolicyDecision>[]) {
  const asked: PolicyRequest[] = [];
  const policy: PolicyEvaluator = {
    evaluate(request) {
      const word = words[Math.min(asked.length, words.length - 1)];
      asked.push(request);
      return { outcome: 'allow', ...word };
    },
  };
  return { policy, asked };
}

/** What is on record of a verdict; a question has none. */
export const recordOf = (verdict: Verdict) =>
  verdict.kind === 'ask' ? undefined : verdict.kind === 'run' ? verdict.decision.record : verdict.record;

/** A refusal as `toMatchObject` takes it. */
export const refusal = (message: string, errorType = 'denied') => ({
  kind: 'refuse',
  result: { content: [{ type: 'text', text: message }], isError: true, errorType },
});

export const pay = (extra: Partial<GateCall> = {}) => gateCall({ args: { eur: 5 }, ...extra });

/** What the record of a call of the kit holds of the question to a policy. */
export const askedOf = (extra: object = {}) => ({
  source: 'host',
  digest: expect.any(String),
  agentPath: ['bot'],
  interactive: false,
  ...extra,
});
