import { unreachable } from '../../base/index.ts';
import type { CallInfo, DecisionRecord, ToolResult } from '../../contracts/index.ts';
import { agentQuestionId } from '../../contracts/index.ts';
import type { Approval, GateCall, GateRules, NextStep, OpenCallFacts, Question, Verdict } from '../../gate/index.ts';
import {
  authorsWord,
  decide,
  decideApproved,
  deniedResult,
  expiryFromNow,
  floorFor,
  isForNamed,
  nextStep,
  normaliseReturn,
  questionState,
  refusalResult,
  rerunQuestion,
} from '../../gate/index.ts';
import type { AgentContext, ResolvedTool, ToolMap } from '../agent/index.ts';
import { isHostRun, keepWrites, mayRepeat, notFound, validateCall } from '../agent/index.ts';
import type { CallSignals, HookChain, ToolEffects } from '../hooks/index.ts';
import { signalsOf, ToolContext } from '../hooks/index.ts';
import type { Ask, CallState, EventActions } from '../log/index.ts';
import type { ReadyCall } from './ready-call.ts';

/** What is done about one call of an agent. */
export type CallStep =
  | { kind: 'run'; ready: ReadyCall }
  | { kind: 'settle'; result: ToolResult; actions?: Partial<EventActions> }
  | { kind: 'ask'; ask: Ask }
  /** Somebody else must move: the host, or whoever was asked. */
  | { kind: 'wait' };

/** What is to be done about one unanswered call, on the grounds of the log; of a new one, policy and hooks are asked. */
export function stepOf(
  context: AgentContext,
  call: CallState,
  tools: ToolMap,
  hooks: HookChain,
): CallStep | Promise<CallStep> {
  const resolved = tools.get(call.name);
  const next = nextStep(factsOf(context, call, resolved));
  switch (next.kind) {
    case 'wait':
      return next;
    case 'inquire':
      return unknownOutcome(context, call, resolved);
    case 'settle': {
      if (next.as === 'not_found') return settle(notFound(call.name, tools));
      const { answer } = call.asks.at(-1) ?? {};
      return settle(refusalResult(next.as, answer ? answer.reason : call.decision?.reason));
    }
    case 'run':
      return resolved ? onRecord(context, call, resolved, next, hooks) : settle(notFound(call.name, tools));
    case 'judge': {
      if (!resolved) return settle(notFound(call.name, tools));
      const rules = gateRules(context, call, resolved, hooks, !call.hooked);
      const step = (verdict: Verdict) =>
        withSignals(context, call, fromVerdict(call, resolved, verdict), rules.signals?.());
      const verdict = decide(gateCall(context, call, resolved), rules);
      return verdict instanceof Promise ? verdict.then(step) : step(verdict);
    }
    default:
      return unreachable(next, 'the next step of a call');
  }
}

function factsOf(context: AgentContext, call: CallState, resolved: ResolvedTool | undefined): OpenCallFacts {
  const { hostRuns, running } = context.invocation;
  const ask = call.asks.at(-1);
  return {
    mover: !resolved ? 'gone' : isHostRun(resolved) ? 'elsewhere' : 'here',
    begun: call.started && !running.has(call.id) ? 'lost' : undefined,
    // An agent that is run as a tool goes on where it stands.
    isRepeatable: resolved !== undefined && (resolved.agentTree !== undefined || mayRepeat(resolved)),
    decision: call.decision?.outcome,
    question: ask && {
      state: questionState(ask),
      isRerun: ask.kind === 'rerun_unknown',
      isCurrent: ask.attempt === call.attempts,
    },
    isJudgedElsewhere: hostRuns,
    isOthers: !resolved && (call.handledBy === 'host' || isOpenWithin(context, call)),
  };
}

/** It runs an agent, in which something waits. */
function isOpenWithin({ invocation, path }: AgentContext, call: CallState): boolean {
  const inside = `${path}/${call.id}`;
  for (const { iso } of invocation.fold.open.values()) if (iso === inside || iso?.startsWith(`${inside}/`)) return true;
  return false;
}

/** What hooks before a tool signal counts with the response, whoever gives it. */
function withSignals(
  { invocation }: AgentContext,
  call: CallState,
  step: CallStep,
  signals: CallSignals | undefined,
): CallStep {
  if (!signals) return step;
  if (step.kind === 'run') return { kind: 'run', ready: { ...step.ready, signals } };
  if (step.kind === 'settle') return { ...step, actions: { ...step.actions, ...signals } };
  const names = Object.keys(signals).join(', ');
  invocation.engine.warn(
    `${names} of a before_tool hook on ${call.name} is lost: somebody is asked about the call first`,
  );
  return step;
}

/** Which call it is and for whom, as its author's functions are told. */
function infoOf(context: AgentContext, call: CallState): CallInfo {
  const { sessionId, sessionUid, userId, principal, agentPath, deps } = new ToolContext(context, call);
  return { callId: call.id, sessionId, sessionUid, userId, principal, agentPath, deps, signal: context.signal };
}

/** A call that was started by a process that is gone: its author says what to do, else a person. */
async function unknownOutcome(
  context: AgentContext,
  call: CallState,
  resolved: ResolvedTool | undefined,
): Promise<CallStep> {
  const { signal, invocation } = context;
  const args = call.decision?.args ?? call.args;
  const warn = (message: string, error?: unknown) => invocation.engine.warn(message, error);
  const about = { ...infoOf(context, call), args };
  const word = resolved ? await authorsWord(resolved.tool, call.name, about, { warn }) : 'ask';
  if (word === undefined) throw signal.reason;
  if (typeof word === 'object') return settle(normaliseReturn(word.result));
  if (word === 'retry' && resolved) {
    const by = call.decision?.by ?? 'author';
    return fromVerdict(call, resolved, await approved(context, call, resolved, { by, args: call.decision?.args }));
  }
  const requestId = agentQuestionId(call.id, call.asks.length);
  return {
    kind: 'ask',
    ask: { requestId, callId: call.id, kind: 'rerun_unknown', message: rerunQuestion(call.name) },
  };
}

/** What the log lets run: policy is asked again, and may only say no. */
async function onRecord(
  context: AgentContext,
  call: CallState,
  resolved: ResolvedTool,
  { on, isRerun }: Extract<NextStep, { kind: 'run' }>,
  hooks: HookChain,
): Promise<CallStep> {
  const ask = call.asks.at(-1);
  if (on === 'decision' || !ask?.answer) {
    const { by = 'author', args, reason, ruleId } = call.decision ?? {};
    return fromVerdict(call, resolved, await approved(context, call, resolved, { by, args, reason, ruleId }));
  }
  const { reason, args, content } = ask.answer;
  const by = ask.answer.by ? `user:${ask.answer.by}` : 'user';
  if (isRerun && ask.kind === 'rerun_unknown')
    return fromVerdict(
      call,
      resolved,
      await approved(
        context,
        call,
        resolved,
        { by, args: args ?? call.decision?.args, isEdited: args !== undefined },
        hooks,
      ),
    );
  const { ruleId, redact } = ask;
  const isEdited = args !== undefined;
  const approval: Approval = { by, args: args ?? ask.args, reason, ruleId, redact, isEdited };
  const verdict = await approved(context, call, resolved, approval, hooks);
  const confirmation = { confirmed: true, ...(content ? { payload: content } : {}) };
  const confirms = ask.kind === 'tool_confirmation' && ask.context !== undefined;
  return fromVerdict(call, resolved, verdict, confirms ? confirmation : undefined);
}

function approved(
  context: AgentContext,
  call: CallState,
  resolved: ResolvedTool,
  approval: Approval,
  hooks?: HookChain,
): Promise<Verdict> {
  const rules = gateRules(context, call, resolved, hooks, approval.isEdited);
  return decideApproved(gateCall(context, call, resolved), rules, approval);
}

function fromVerdict(
  call: CallState,
  resolved: ResolvedTool,
  verdict: Verdict,
  confirmation?: ReadyCall['confirmation'],
): CallStep {
  switch (verdict.kind) {
    case 'run':
      return {
        kind: 'run',
        ready: { call, resolved, decision: verdict.decision, ...(confirmation ? { confirmation } : {}) },
      };
    case 'ask':
      return isForNamed(verdict.question)
        ? settle(...unchecked(call, verdict.question))
        : { kind: 'ask', ask: confirmationAsk(call, verdict.question) };
    case 'refuse':
    case 'result':
      return settle(verdict.result, { decisions: { [call.id]: verdict.record } });
    default:
      return unreachable(verdict, 'a verdict');
  }
}

/** Who answers is checked by hosts alone: without one, a question that only some may answer is a no. */
function unchecked(call: CallState, { ruleId, redact }: Question): Parameters<typeof settle> {
  const reason = 'policy says who may approve this call, and only a host can check that: run the agent under one';
  const record: DecisionRecord = {
    outcome: 'denied',
    by: 'policy',
    reason,
    ...(ruleId === undefined ? {} : { ruleId }),
    ...(redact ? { redact } : {}),
  };
  return [deniedResult(reason), { decisions: { [call.id]: record } }];
}

function confirmationAsk(call: CallState, question: Question): Ask {
  const { args, reason, hint, ruleId, payload, redact } = question;
  const expiresAt = expiryFromNow(question);
  return {
    requestId: agentQuestionId(call.id, call.asks.length),
    callId: call.id,
    kind: 'tool_confirmation',
    message: hint ?? reason ?? `Run ${call.name}?`,
    ...(args === call.args ? {} : { args }),
    ...(payload === undefined ? {} : { context: { payload } }),
    ...(ruleId === undefined ? {} : { ruleId }),
    ...(redact ? { redact } : {}),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
}

function gateCall(context: AgentContext, call: CallState, resolved: ResolvedTool): GateCall {
  return {
    callId: call.id,
    args: call.args,
    tool: resolved.descriptor,
    source: resolved.source,
    agentPath: context.agentPath,
    sessionId: context.invocation.sessionId,
  };
}

function gateRules(
  context: AgentContext,
  call: CallState,
  resolved: ResolvedTool,
  hooks?: HookChain,
  withHook = false,
): GateRules & { signals?: () => CallSignals | undefined } {
  const { engine, options, fold, hostRuns } = context.invocation;
  let effects: ToolEffects = {};
  return {
    // Under host execution the host's policy is the only one.
    policy: hostRuns ? undefined : engine.policy,
    isJudged: hostRuns,
    principal: engine.principal,
    permissionMode: options.permissionMode ?? fold.config.permissionMode,
    interactive: true,
    usage: { calls: fold.totalCalls, ...(fold.totalUsage.cost ? { usd: fold.totalUsage.cost.usd } : {}) },
    signal: context.signal,
    needsApproval: floorFor(resolved.tool?.needsApproval, () => infoOf(context, call)),
    validate: (args) => validateCall(resolved, args),
    beforeTool:
      withHook && hooks?.has('beforeTool')
        ? async (args) => {
            const toolContext = ToolContext.ofHooks(context, call, resolved.source);
            const value = await hooks.first('beforeTool', toolContext, resolved.descriptor, args);
            await keepWrites(context, toolContext);
            effects = toolContext.effects;
            return value;
          }
        : undefined,
    hookAsked: () => effects.confirmation,
    signals: () => signalsOf(effects),
  };
}

function settle(result: ToolResult, actions?: Partial<EventActions>): CallStep {
  return { kind: 'settle', result, ...(actions ? { actions } : {}) };
}
