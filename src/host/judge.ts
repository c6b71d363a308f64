import type {
  AnyTool,
  ConfirmationRequest,
  DecisionRecord,
  DisplayContent,
  LifecycleInterceptor,
  PendingRequest,
  PolicyEvaluator,
  Principal,
  RememberOption,
  ToolDescriptor,
  ToolResult,
} from '../contracts/index.ts';
import { CoxswainError, messageOf } from '../contracts/index.ts';
import type { Approval, Decision, GateCall, GateRules, Question, Verdict } from '../gate/index.ts';
import {
  decide,
  decideApproved,
  ensureValidator,
  errorResult,
  evaluatePolicy,
  normaliseReturn,
  policyRequest,
  untilAborted,
  validateArgs,
} from '../gate/index.ts';
import { votesFor, whyNot } from './approver.ts';
import { previewDigest } from './digest.ts';
import type { ApprovalQuestion } from './options.ts';
import type { PolicyRule } from './policy/index.ts';
import { isRulePolicy } from './remembered.ts';
import type { HostTool } from './tool-registry.ts';
import { supports } from './tool-runner.ts';

/** What a host does about one open request. */
export type Step =
  | { kind: 'run'; decision: Decision; rerun: boolean; confirmation?: { confirmed: boolean; payload?: unknown } }
  | { kind: 'settle'; result: ToolResult; decision?: DecisionRecord }
  /** The host's own question. */
  | { kind: 'ask'; question: ApprovalQuestion }
  /** The agent's own question, which is in the log. */
  | { kind: 'elicit'; request: PendingRequest }
  /** For whoever drives the session: a tool that nobody here can run. `decision`: it may. */
  | { kind: 'leave'; decision?: DecisionRecord };

/** What a handler asked, with which arguments, and the number of its question among those about the call. */
export interface Confirmation {
  asked: ConfirmationRequest;
  args: Record<string, unknown>;
  first: number;
}

export interface JudgeOptions {
  base: PolicyEvaluator;
  /** With remembered answers and mode. */
  policy: () => PolicyEvaluator;
  policyTimeoutMs: number | undefined;
  hooks: LifecycleInterceptor | undefined;
  principal: Principal;
  permissionMode: () => string | undefined;
  /** Somebody can be asked. */
  interactive: () => boolean;
  deps: () => unknown;
  /** Questions that host tools have asked in mid-run, by call id: the same for all handles of a host. */
  confirmations: Map<string, Confirmation>;
  warn(message: string, error?: unknown): void;
}

const PREVIEW_TIMEOUT_MS = 10_000;

/**
 * Decides on open requests from what the log says of them. Keeps nothing that a restart would miss: verdicts are
 * remembered only so that hooks fire once for each call in one process.
 */
export class Judge {
  readonly #options: JudgeOptions;
  readonly #verdicts = new Map<string, Promise<Verdict>>();
  readonly #confirmations: Map<string, Confirmation>;

  constructor(options: JudgeOptions) {
    this.#options = options;
    this.#confirmations = options.confirmations;
  }

  /** A handler has ended with a question of its own: what was answered before is no answer to it. */
  confirmationAsked({ callId, args }: Decision, asked: ConfirmationRequest, { answers }: PendingRequest): void {
    const first = (answers ?? []).filter(({ requestId, quorum }) => !quorum && isPolicyQuestion(requestId)).length;
    this.#confirmations.set(callId, { asked, args, first });
  }

  /** Forgets what is not open any more. */
  retain(open: readonly PendingRequest[]): void {
    const ids = new Set(open.map(({ callId }) => callId));
    for (const callId of this.#verdicts.keys()) if (!ids.has(callId)) this.#verdicts.delete(callId);
  }

  settled(callId: string): void {
    this.#verdicts.delete(callId);
    this.#confirmations.delete(callId);
  }

  /** What to do about a request; `peek`: only to show it, no hook fires. */
  async step(
    request: PendingRequest,
    hostTool: HostTool | undefined,
    signal: AbortSignal,
    peek = false,
  ): Promise<Step> {
    if (request.kind !== 'tool') return { kind: 'elicit', request };
    const loading = ensureValidator();
    if (loading) await loading;
    let call = gateCall(request, hostTool);
    const rules = this.#rules(hostTool, signal);
    const confirmation = this.#confirmations.get(call.callId);
    if (confirmation) {
      const question = { args: confirmation.args, ...hintOf(confirmation.asked) };
      return this.#asked(request, hostTool, call, rules, question, 'policy', confirmation.first);
    }
    if (request.started) return this.#lost(request, hostTool, call, rules);
    if (request.decision) return this.#approved(request, hostTool, call, rules, approvalOf(request), false);
    if (hostTool) {
      // Not every executor checks what it announces.
      const checked = rules.validate(call.args);
      if (!checked.ok) {
        const decision: DecisionRecord = { outcome: 'denied', by: 'gate', reason: checked.message };
        return { kind: 'settle', result: errorResult('invalid_args', checked.message), decision };
      }
      call = { ...call, args: checked.args };
    }
    const verdict = await this.#verdict(request, call, rules, hostTool, peek);
    switch (verdict.kind) {
      case 'run':
        return this.#canRun(request, hostTool)
          ? { kind: 'run', decision: verdict.decision, rerun: false }
          : { kind: 'leave', decision: verdict.decision.record };
      case 'ask':
        return this.#asked(request, hostTool, call, rules, verdict.question, 'policy');
      default:
        return { kind: 'settle', result: verdict.result, decision: verdict.record };
    }
  }

  #canRun(request: PendingRequest, hostTool: HostTool | undefined): boolean {
    return request.handledBy === 'agent' || hostTool?.tool.execute !== undefined;
  }

  #verdict(
    request: PendingRequest,
    call: GateCall,
    rules: GateRules,
    hostTool: HostTool | undefined,
    peek: boolean,
  ): Promise<Verdict> {
    const known = this.#verdicts.get(call.callId);
    if (known) return known;
    const full: GateRules = { ...rules, needsApproval: floorOf(request, hostTool) };
    if (!peek) full.beforeTool = this.beforeTool(call, request.turnId);
    const verdict = Promise.resolve(decide(call, full));
    if (!peek) this.#verdicts.set(call.callId, verdict);
    return verdict;
  }

  /** The host's before_tool hooks around one call. */
  beforeTool(call: GateCall, turnId?: string): GateRules['beforeTool'] {
    const { hooks } = this.#options;
    if (!supports(hooks, 'before_tool')) return undefined;
    const { tool, callId, sessionId, agentPath } = call;
    const context = { sessionId, callId, agentPath, ...(turnId === undefined ? {} : { turnId }) };
    return async (args) => hooks?.fire('before_tool', { tool, args, context });
  }

  /** Started by a process that is gone. */
  async #lost(
    request: PendingRequest,
    hostTool: HostTool | undefined,
    call: GateCall,
    rules: GateRules,
  ): Promise<Step> {
    if (!hostTool?.tool.execute) return { kind: 'leave' };
    const approval = approvalOf(request);
    const { annotations } = hostTool.descriptor;
    if (annotations?.readOnly || annotations?.idempotent)
      return this.#approved(request, hostTool, call, rules, approval, true);
    const args = approval.args ?? call.args;
    const verdict = await unknownOutcome(hostTool.tool, call.callId, args, this.#options.warn);
    if (typeof verdict === 'object') return { kind: 'settle', result: normaliseReturn(verdict.result) };
    if (verdict === 'retry') return this.#approved(request, hostTool, call, rules, approval, true);
    const hint = `${call.tool.name} was started and its outcome is unknown. Run it again?`;
    return this.#asked(request, hostTool, call, rules, { args, hint }, 'rerun');
  }

  /** A question: answered, still open, or out of time. */
  async #asked(
    request: PendingRequest,
    hostTool: HostTool | undefined,
    call: GateCall,
    rules: GateRules,
    asked: Question,
    kind: 'policy' | 'rerun',
    first = 0,
  ): Promise<Step> {
    const { interactive, principal } = this.#options;
    if (!interactive()) return kind === 'rerun' ? notAgain('host') : refusal('nobody can be asked here', 'host');
    const answers = request.answers ?? [];
    let question = asked;
    let preview = await this.#preview(hostTool?.tool, question.args, rules.signal);
    let digest = previewDigest(call.tool.name, question.args, preview);
    for (let n = first; ; n++) {
      const requestId = `${call.callId}#${kind}${n === 0 ? '' : `.${n}`}`;
      const answer = answers.find((candidate) => candidate.requestId === requestId && !candidate.quorum);
      // A yes is for one more run, not for the runs after that.
      if (kind === 'rerun' && answer?.spent) continue;
      if (!answer) {
        const expiresAt = expiry(request, question);
        if (expiresAt !== undefined && expiresAt <= Date.now()) return refusal('nobody answered in time', 'expiry');
        const open = await this.#question(request, call, rules, question, {
          requestId,
          kind,
          preview,
          digest,
          expiresAt,
          isPolicys: kind === 'policy' && !this.#confirmations.has(call.callId) && !floorOf(request, hostTool),
        });
        return { kind: 'ask', question: open };
      }
      const by = `user:${answer.by?.id ?? 'unknown'}`;
      if (answer.action !== 'accept' && kind === 'rerun') return notAgain(by);
      if (answer.action === 'decline') return refusal(answer.reason ?? 'denied', by, answer.reason);
      if (answer.action === 'cancel') {
        const record: DecisionRecord = { outcome: 'denied', by, reason: 'cancelled' };
        return { kind: 'settle', result: errorResult('cancelled', 'cancelled: it never ran'), decision: record };
      }
      // A yes holds for what was shown, from somebody who may give it; else it is asked again.
      if (answer.digest !== digest || !this.#mayDecide(question, principal, answer.by)) continue;
      const others = answer.args && (await this.#forOthers(call, rules, answer.args, answer.by));
      if (others) {
        question = others;
        preview = await this.#preview(hostTool?.tool, question.args, rules.signal);
        digest = previewDigest(call.tool.name, question.args, preview);
        continue;
      }
      const changed = answer.args ?? (question.args === call.args ? undefined : question.args);
      const approval: Approval = { by, args: changed, reason: answer.reason, ruleId: question.ruleId };
      const payload = question.payload;
      const confirmation = this.#confirmations.has(call.callId) ? { confirmed: true, payload } : undefined;
      return this.#approved(
        request,
        hostTool,
        call,
        rules,
        approval,
        kind === 'rerun' || confirmation !== undefined,
        confirmation,
      );
    }
  }

  /** Whoever edits a call cannot make it one that others must decide on: they are asked about the edited one. */
  async #forOthers(
    call: GateCall,
    rules: GateRules,
    args: Record<string, unknown>,
    by: Principal | undefined,
  ): Promise<Question | undefined> {
    const policy = await evaluatePolicy(rules.policy, policyRequest(call, args, rules), {
      timeoutMs: rules.policyTimeoutMs,
      signal: rules.signal,
    });
    const { outcome, approvers, reason, hint, ruleId } = policy;
    if (outcome !== 'ask_user' || !approvers) return undefined;
    const question: Question = {
      args,
      approvers,
      ...(reason === undefined ? {} : { reason }),
      ...(hint === undefined ? {} : { hint }),
      ...(ruleId === undefined ? {} : { ruleId }),
    };
    const decides = (approvers.quorum ?? 1) === 1 && this.#mayDecide(question, this.#options.principal, by);
    return decides ? undefined : question;
  }

  /** Why an agent's own question may not be answered with these arguments; undefined if it may. */
  async whyNotEdited(
    request: PendingRequest,
    hostTool: HostTool | undefined,
    args: Record<string, unknown>,
    by: Principal,
  ): Promise<string | undefined> {
    const call = gateCall(request, hostTool);
    const rules = this.#rules(hostTool, new AbortController().signal);
    const policy = await evaluatePolicy(rules.policy, policyRequest(call, args, rules), {
      timeoutMs: rules.policyTimeoutMs,
    });
    if (policy.outcome === 'deny') return policy.reason ?? 'policy denies them';
    return (await this.#forOthers(call, rules, args, by)) && 'others must decide on them';
  }

  #mayDecide(question: Question, requestedBy: Principal, by: Principal | undefined): boolean {
    return !question.approvers || (by !== undefined && whyNot(question.approvers, requestedBy, by) === undefined);
  }

  async #approved(
    request: PendingRequest,
    hostTool: HostTool | undefined,
    call: GateCall,
    rules: GateRules,
    approval: Approval,
    rerun: boolean,
    confirmation?: { confirmed: boolean; payload?: unknown },
  ): Promise<Step> {
    const verdict = await decideApproved(call, rules, approval);
    if (verdict.kind === 'run') {
      if (!this.#canRun(request, hostTool)) return { kind: 'leave' };
      return { kind: 'run', decision: verdict.decision, rerun, ...(confirmation ? { confirmation } : {}) };
    }
    if (verdict.kind === 'ask')
      throw new CoxswainError('INTERNAL', 'E_INTERNAL', 'an approved call was asked about again');
    // It was started once, whatever is said about the next time.
    if (rerun && !confirmation) return notAgain(verdict.record.by, verdict.record.reason);
    return { kind: 'settle', result: verdict.result, decision: verdict.record };
  }

  async #preview(
    tool: AnyTool | undefined,
    args: Record<string, unknown>,
    signal: AbortSignal | undefined,
  ): Promise<DisplayContent[]> {
    if (!tool?.preview) return [];
    const limit = AbortSignal.any([AbortSignal.timeout(PREVIEW_TIMEOUT_MS), ...(signal ? [signal] : [])]);
    try {
      // One that ignores the signal must not hold up whoever waits.
      return await untilAborted(tool.preview(args, { signal: limit, deps: this.#options.deps() }), limit);
    } catch (error) {
      return [{ type: 'text', text: `There is no preview: ${messageOf(error)}` }];
    }
  }

  async #question(
    request: PendingRequest,
    call: GateCall,
    rules: GateRules,
    question: Question,
    facts: {
      requestId: string;
      kind: 'policy' | 'rerun';
      preview: DisplayContent[];
      digest: string;
      expiresAt: number | undefined;
      /** Policy alone asks: neither the author of the tool nor its handler. */
      isPolicys: boolean;
    },
  ): Promise<ApprovalQuestion> {
    const { decision: _, expiresAt: __, ...open } = request;
    const title = `Run ${call.tool.displayName ?? call.tool.name}?`;
    const message = question.hint ?? (question.reason === undefined ? title : `${title} (${question.reason})`);
    return {
      ...open,
      requestId: facts.requestId,
      kind: facts.kind === 'rerun' ? 'rerun_unknown' : 'elicitation',
      elicitation: facts.kind === 'rerun' ? 'rerun_unknown' : 'tool_confirmation',
      args: question.args,
      message,
      ...(question.payload === undefined ? {} : { context: { payload: question.payload } }),
      ...(facts.expiresAt === undefined ? {} : { expiresAt: new Date(facts.expiresAt).toISOString() }),
      approval: {
        title,
        preview: facts.preview,
        previewDigest: facts.digest,
        requestedBy: this.#options.principal,
        remember: facts.isPolicys ? await this.#rememberOptions(call, question, rules) : [],
        ...(question.reason === undefined ? {} : { reason: question.reason }),
        ...(question.ruleId === undefined ? {} : { ruleId: question.ruleId }),
        ...(question.approvers ? { approvers: question.approvers } : {}),
      },
    };
  }

  /** "Always" is offered only where such a rule would really let the call run. */
  async #rememberOptions(call: GateCall, question: Question, rules: GateRules): Promise<RememberOption[]> {
    const { base } = this.#options;
    const { name } = call.tool;
    // A name that reads as a pattern would open more than this tool.
    if (question.approvers || !isRulePolicy(base) || /[*?]/.test(name)) return [];
    const options: RememberOption[] = [];
    const rule: PolicyRule = { id: `remembered:${name}`, tool: name, outcome: 'allow' };
    const request = policyRequest(call, question.args, rules);
    for (const [scope, label] of [
      ['session', `Always run ${name} in this session`],
      ['user', `Always run ${name}`],
    ] as const) {
      const would = await evaluatePolicy(base.with(rule, scope), request);
      if (would.outcome === 'allow') options.push({ label, scope, rule: { ...rule } });
    }
    return options;
  }

  /** Who decides, and on what grounds, whatever the call. */
  rulesFor(signal: AbortSignal): Omit<GateRules, 'validate'> {
    const { policy, policyTimeoutMs, principal, permissionMode, interactive } = this.#options;
    return {
      policy: policy(),
      policyTimeoutMs,
      principal,
      permissionMode: permissionMode(),
      interactive: interactive(),
      signal,
    };
  }

  #rules(hostTool: HostTool | undefined, signal: AbortSignal): GateRules {
    return {
      ...this.rulesFor(signal),
      validate: (args) =>
        hostTool
          ? validateArgs(
              {
                inputSchema: hostTool.descriptor.inputSchema,
                source: hostTool.tool.inputSchema ?? hostTool.tool.parametersSchema,
              },
              args,
            )
          : validateArgs({ inputSchema: { type: 'object' } }, args),
    };
  }

  /** Votes so far on a question that needs several. */
  votes(
    request: PendingRequest,
    { requestId, approval }: ApprovalQuestion,
    args: Record<string, unknown> | undefined,
  ): Set<string> {
    const { previewDigest: digest, approvers, requestedBy } = approval;
    return votesFor(request.answers ?? [], { requestId, digest, args }, approvers, requestedBy);
  }
}

/** The host's own questions: derived, only their answers are stored. */
export function isHostQuestion(requestId: string): boolean {
  return /#(?:policy|rerun)(?:\.\d+)?$/.test(requestId);
}

/** The author's word on whether a person must be asked: announced with the call, or the host tool's. */
function floorOf(request: PendingRequest, hostTool?: HostTool): AnyTool['needsApproval'] {
  return request.message === undefined ? hostTool?.tool.needsApproval : true;
}

function isPolicyQuestion(requestId: string): boolean {
  return /#policy(?:\.\d+)?$/.test(requestId);
}

function gateCall(request: PendingRequest, hostTool: HostTool | undefined): GateCall {
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

function approvalOf(request: PendingRequest): Approval {
  const { decision } = request;
  return { by: decision?.by ?? 'host', ...(decision?.args ? { args: decision.args } : {}) };
}

function hintOf(request: ConfirmationRequest): { hint?: string; payload?: unknown } {
  return {
    ...(request.hint === undefined ? {} : { hint: request.hint }),
    ...(request.payload === undefined ? {} : { payload: request.payload }),
  };
}

function expiry(request: PendingRequest, question: Question): number | undefined {
  return question.expiresIn === undefined ? undefined : Date.parse(request.requestedAt) + question.expiresIn * 1000;
}

function refusal(message: string, by: string, reason: string = message): Step {
  const text = message === 'denied' ? message : `denied: ${message}`;
  return { kind: 'settle', result: errorResult('denied', text), decision: { outcome: 'denied', by, reason } };
}

/** It was started and nobody knows what came of it. */
function notAgain(by: string, why?: string): Step {
  const reason = `its outcome is unknown; it was not run again${why === undefined ? '' : `: ${why}`}`;
  return { kind: 'settle', result: errorResult('interrupted', reason), decision: { outcome: 'denied', by, reason } };
}

async function unknownOutcome(
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
