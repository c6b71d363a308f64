import type {
  ContentPart,
  DecisionRecord,
  ReportedRequest,
  RunDecisionRecord,
  RunQuestion,
  TailCallRecord,
  ToolResult,
  ToolResultInput,
  ToolUpdate,
} from '../../contracts/index.ts';
import {
  decide,
  errorResult,
  floorFor,
  frozenPrincipal,
  isRepeatable,
  recordFacts,
  refusalResult,
  validatedInTime,
  withTruncatedOf,
} from '../../gate/index.ts';
import type { HostedFrame } from '../frame/index.ts';
import type { RunStep } from '../questions/index.ts';
import { resultInput } from '../questions/index.ts';
import { DEFAULT_TOOL_TIMEOUT_MS } from '../terms/index.ts';
import type { HostCall, HostTool, RunToolOptions } from '../tools/index.ts';
import { runHostTool, undeclaredCalls, validatorOf } from '../tools/index.ts';
import type { AskingRun } from './ask-in-run.ts';
import { askInRun } from './ask-in-run.ts';
import { isUnrecorded, recordStart } from './call-starts.ts';
import { eventBase } from './run-base.ts';
import { callOperation, measured, within } from './run-spans.ts';

const MAX_TAIL_CALLS = 16;

/** Runs one call here, with the calls that its result asks for: its result, for the log. Undefined: it stays open. */
export async function runHostCall(
  scope: AskingRun,
  { request, step, hostTool }: { request: ReportedRequest; step: RunStep; hostTool: HostTool },
  signal: AbortSignal,
  ended?: () => void,
): Promise<ToolResultInput | undefined> {
  const { session } = scope;
  const { frame } = session;
  const called = session.subagents?.of(request);
  const callId = request.callId ?? request.requestId;
  const operation = callOperation(scope, request, callId);
  const span = operation?.span;
  const call = {
    callId,
    sessionId: session.id,
    sessionUid: frame.sessionUid,
    userId: frame.userId,
    principal: frozenPrincipal(frame.requesterOf(request)),
    agentPath: request.agentPath,
    hostTool: called?.bound(hostTool, span ? within(scope, span) : scope.below) ?? hostTool,
    decision: step.decision,
    ...(step.confirmation ? { confirmation: step.confirmation } : {}),
    ...(step.preview ? { preview: step.preview } : {}),
  };
  let hasEnded = false;
  const options = toolOptions(scope, request, (of) => {
    if (of !== callId) return;
    hasEnded = true;
    ended?.();
  });
  const work = runHostTool(call, options, signal);
  const outcome = await (operation ? measured(operation, work) : work);
  if (outcome.kind === 'confirm') {
    frame.judge.confirmationAsked(step.decision, outcome.request, request);
    return undefined;
  }
  const usage = called && (await called.quiet());
  if (outcome.kind === 'suspended') return undefined;
  // What a run again repeats has no start in the log; what is called behind it may be no such thing.
  const isRecorded = called !== undefined || !isUnrecorded(request, hostTool, called);
  const recorded = { isRecorded, record: step.decision.record };
  const begins = (tails: TailCallRecord[]) => recordTail(scope, request, recorded, tails);
  const offers = (name: string) => scope.offers(name);
  const running = runTailCalls(outcome.result, { call, request, frame, options, signal, offers, begins });
  const tail = running instanceof Promise ? await running : running;
  const result = tail.decisions ? await frame.bounded(callId, tail.result, { signal }) : tail.result;
  frame.judge.settled(callId);
  // Of a handler that an abort has cut off nothing is known; one that had ended has its result.
  if (scope.signal.aborted && !hasEnded) return undefined;
  const { annotations } = hostTool.descriptor;
  const record: RunDecisionRecord = {
    ...step.decision.record,
    ...(tail.decisions ? { tailCalls: tail.decisions } : {}),
    ...(usage ? { usage } : {}),
    ...(called?.place ? { called: called.place } : {}),
  };
  // One whose approval is not in the log brings its decision along.
  const isNews = annotations?.readOnly || annotations?.idempotent || tail.decisions !== undefined || usage;
  return resultInput(request, result, isNews ? record : undefined, outcome.interim);
}

function toolOptions(scope: AskingRun, request: ReportedRequest, ended: (callId: string) => void): RunToolOptions {
  const { frame } = scope.session;
  const { options, warn } = frame;
  return {
    deps: scope.options.deps ?? options.deps,
    hooks: options.hooks,
    hookTimeoutMs: options.hookTimeoutMs,
    timeoutMs: options.toolTimeoutMs ?? DEFAULT_TOOL_TIMEOUT_MS,
    bounded: (callId, result, beside) => frame.bounded(callId, result, beside),
    ended,
    warn,
    progress: (update: ToolUpdate) => showProgress(scope, request, update),
    elicit: (question: RunQuestion, signal: AbortSignal) => askInRun(scope, request, question, signal),
  };
}

function showProgress(scope: AskingRun, request: ReportedRequest, update: ToolUpdate): void {
  if (scope.signal.aborted || !scope.accepted) return;
  scope.push({
    ...update,
    ...eventBase(scope, request),
    type: 'tool_update',
    requestId: request.callId ?? request.requestId,
  });
}

/**
 * Stores the start of a call that has none, before a tail call runs that may not run twice: after a crash the call is
 * asked about. False: the call was settled elsewhere.
 */
async function recordTail(
  scope: AskingRun,
  request: ReportedRequest,
  recorded: { isRecorded: boolean; readonly record: DecisionRecord },
  tailCalls: TailCallRecord[],
): Promise<boolean> {
  if (recorded.isRecorded) return true;
  const decision: RunDecisionRecord = { ...recorded.record, tailCalls: [...tailCalls] };
  recorded.isRecorded = await recordStart(scope, request, decision);
  return recorded.isRecorded;
}

/** A result with what its tail calls came to. */
interface TailOutcome {
  result: ToolResult;
  decisions?: TailCallRecord[];
}

/** Whose tail calls run, and where. */
interface TailScope {
  readonly call: HostCall;
  readonly request: ReportedRequest;
  readonly frame: HostedFrame;
  readonly options: RunToolOptions;
  readonly signal: AbortSignal;
  /** The tool is offered in this stream. */
  offers(name: string): boolean;
  /** Called before one runs that may not run twice, with what was decided so far. False: none runs any more. */
  begins(tails: TailCallRecord[]): Promise<boolean>;
}

/**
 * Runs the calls that a result asks for, through the gate, before it returns; what they come to is added to it. One
 * that would have to ask a person is denied: it has no place in the log where a question could wait. What was decided
 * about each goes into the log with the result. A tool whose author says nothing of such calls may have passed on what
 * somebody else wrote: none of them runs.
 */
export function runTailCalls(result: ToolResult, scope: TailScope): TailOutcome | Promise<TailOutcome> {
  if (!('tailCalls' in result)) return { result };
  const { tailCalls, ...rest } = result;
  if (!tailCalls || tailCalls.length === 0) return { result: rest };
  const { tool, descriptor } = scope.call.hostTool;
  if (tool.makesTailCalls !== true) {
    const text = undeclaredCalls(descriptor.name);
    return { result: { ...rest, content: [...rest.content, { type: 'text', text }] } };
  }
  return runEach(tailCalls, rest, scope);
}

async function runEach(
  tailCalls: NonNullable<ToolResult['tailCalls']>,
  rest: ToolResult,
  { call, request, frame, options, signal, offers, begins }: TailScope,
): Promise<TailOutcome> {
  const content: ContentPart[] = [...rest.content];
  const decisions: TailCallRecord[] = [];
  let isError = rest.isError ?? false;
  const cut: ToolResult[] = [rest];
  // What is cut off a result behind it is noted with the result that it becomes a part of.
  const behind: RunToolOptions = {
    ...options,
    bounded: (callId, result, beside) => frame.bounded(callId, result, beside, call.callId),
  };
  for (const [index, tail] of tailCalls.entries()) {
    const callId = `${call.callId}!${index}`;
    const one = index < MAX_TAIL_CALLS ? await runOne(tail.name, tail.args, callId) : tooMany();
    if (one.isError) isError = true;
    cut.push(one);
    content.push({ type: 'text', text: `[${tail.name}]` }, ...one.content);
  }
  const joined: ToolResult = { ...rest, content, ...(isError ? { isError } : {}) };
  return { result: withTruncatedOf(joined, cut), decisions };

  async function runOne(name: string, args: Record<string, unknown>, callId: string): Promise<ToolResult> {
    if (signal.aborted) return refusalResult('cancelled');
    const hostTool = frame.tools.get(name);
    if (!hostTool?.tool.execute || !offers(name)) return errorResult('not_found', `Tool not found: ${name}`);
    // It runs within the turn of its caller in the queue.
    if (hostTool.descriptor.annotations?.exclusive && !call.hostTool.descriptor.annotations?.exclusive) {
      return errorResult('denied', `denied: ${name} runs alone, so only a tool that does may call it behind itself`);
    }
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
      needsApproval: floorFor(hostTool.tool.needsApproval, () => frame.callInfo(request, callId, signal)),
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
    if (!isRepeatable(hostTool.descriptor.annotations) && !(await begins(decisions))) {
      return errorResult('interrupted', `interrupted: the call that asked for ${name} was settled elsewhere`);
    }
    // What somebody has confirmed, or was shown, is the call before it.
    const { confirmation: _confirmed, preview: _shown, ...caller } = call;
    const outcome = await runHostTool({ ...caller, callId, hostTool, decision: verdict.decision }, behind, signal);
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
