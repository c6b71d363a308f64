import type { ContentPart, PendingRequest, TailCallRecord, ToolResult } from '../../contracts/index.ts';
import { decide, errorResult, recordFacts, validatedInTime } from '../../gate/index.ts';
import type { HostedFrame } from '../frame/index.ts';
import type { HostCall, RunToolOptions } from '../tools/index.ts';
import { runHostTool, validatorOf } from '../tools/index.ts';

const MAX_TAIL_CALLS = 16;

/** A result with what its tail calls came to. */
interface TailOutcome {
  result: ToolResult;
  decisions?: TailCallRecord[];
}

/**
 * Runs the calls that a result asks for, through the gate, before it returns; what they come to is added to it. One
 * that would have to ask a person is denied: it has no place in the log where a question could wait. What was decided
 * about each goes into the log with the result.
 */
export function runTailCalls(
  result: ToolResult,
  call: HostCall,
  request: PendingRequest,
  frame: HostedFrame,
  options: RunToolOptions,
  signal: AbortSignal,
): TailOutcome | Promise<TailOutcome> {
  if (!('tailCalls' in result)) return { result };
  const { tailCalls, ...rest } = result;
  if (!tailCalls || tailCalls.length === 0) return { result: rest };
  return runEach(tailCalls, rest, call, request, frame, options, signal);
}

async function runEach(
  tailCalls: NonNullable<ToolResult['tailCalls']>,
  rest: ToolResult,
  call: HostCall,
  request: PendingRequest,
  frame: HostedFrame,
  options: RunToolOptions,
  signal: AbortSignal,
): Promise<TailOutcome> {
  const content: ContentPart[] = [...rest.content];
  const decisions: TailCallRecord[] = [];
  let isError = rest.isError ?? false;
  for (const [index, tail] of tailCalls.entries()) {
    const callId = `${call.callId}!${index}`;
    const one = index < MAX_TAIL_CALLS ? await runOne(tail.name, tail.args, callId) : tooMany();
    if (one.isError) isError = true;
    content.push({ type: 'text', text: `[${tail.name}]` }, ...one.content);
  }
  return { result: { ...rest, content, ...(isError ? { isError } : {}) }, decisions };

  async function runOne(name: string, args: Record<string, unknown>, callId: string): Promise<ToolResult> {
    const hostTool = frame.tools.get(name);
    if (!hostTool?.tool.execute) return errorResult('not_found', `Tool not found: ${name}`);
    const validate = validatorOf(hostTool, frame.judge.allowanceOf(request, callId));
    const checked = await validatedInTime(validate(args), signal);
    if (!checked.ok) return errorResult('invalid_args', unquoted(checked.message));
    const gateCall = {
      callId,
      args: checked.args,
      tool: hostTool.descriptor,
      source: hostTool.source,
      agentPath: call.agentPath,
      sessionId: call.sessionId,
    };
    const rules = { ...frame.judge.rulesFor(request, signal), validate };
    const verdict = await decide(gateCall, {
      ...rules,
      needsApproval: hostTool.tool.needsApproval,
      beforeTool: frame.judge.beforeTool(gateCall, request, signal),
    });
    if (verdict.kind === 'ask') {
      const { args: asked, ruleId, redact } = verdict.question;
      const facts = recordFacts(gateCall, asked, rules, { outcome: 'deny', ...(redact ? { redact } : {}) });
      decisions.push({ callId, name, ...facts, ...(ruleId ? { ruleId } : {}), outcome: 'denied', by: 'policy' });
      return errorResult('denied', `denied: ${name} needs approval, and a tail call cannot wait for one`);
    }
    if (verdict.kind !== 'run') {
      decisions.push({ callId, name, ...verdict.record });
      const { result, record } = verdict;
      return result.errorType === 'invalid_args' ? errorResult('invalid_args', unquoted(record.reason ?? '')) : result;
    }
    decisions.push({ callId, name, ...verdict.decision.record });
    const outcome = await runHostTool({ ...call, callId, hostTool, decision: verdict.decision }, options, signal);
    if (outcome.kind !== 'result') return errorResult('denied', `denied: ${name} asks for confirmation`);
    const { tailCalls: _, ...own } = outcome.result;
    return own;
  }

  function tooMany(): ToolResult {
    return errorResult('too_large', `at most ${MAX_TAIL_CALLS} tail calls run`);
  }
}

/** Audits hide arguments, but not of whose result this becomes a part: the first fault, without the value. */
const unquoted = (message: string): string => message.replace(/, got .*/s, '');
