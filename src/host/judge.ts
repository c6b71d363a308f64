import type {
  ConfirmationRequest,
  DecisionRecord,
  LifecycleInterceptor,
  PendingRequest,
  PolicyEvaluator,
  Principal,
  ToolResult,
} from '../contracts/index.ts';
import { CoxswainError } from '../contracts/index.ts';
import type { Approval, CheckedDecision, Decision, GateCall, GateRules, Question, Verdict } from '../gate/index.ts';
import {
  decide,
  decideApproved,
  ensureValidator,
  errorResult,
  evaluatePolicy,
  normaliseReturn,
  policyRequest,
  recordFacts,
  validateArgs,
} from '../gate/index.ts';
import { LazyMap } from '../session/index.ts';
import { votesFor, whyNot } from './approver.ts';
import { previewDigest } from './digest.ts';
import {
  approvalOf,
  expiry,
  floorOf,
  gateCall,
  hidden,
  hintOf,
  isPolicyQuestion,
  notAgain,
  refusal,
  underRule,
  unknownOutcome,
} from './judge-parts.ts';
import type { ApprovalQuestion } from './options.ts';
import { Questions } from './questions.ts';
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
  redact?: string[] | undefined;
  first: number;
}

/** On what grounds a request is decided: whose turn it is of, and in which mode. */
export interface Grounds {
  principal: Principal;
  /** With remembered answers and mode. */
  policy: PolicyEvaluator;
  permissionMode: string | undefined;
  /** Somebody can be asked. */
  interactive: boolean;
}

type HostRules = GateRules & Grounds;

export interface JudgeOptions {
  base: PolicyEvaluator;
  grounds: (request: PendingRequest) => Grounds;
  policyTimeoutMs: number | undefined;
  hooks: LifecycleInterceptor | undefined;
  deps: () => unknown;
  /** Questions that host tools have asked in mid-run, by call id: the same for all handles of a host. */
  confirmations: Map<string, Confirmation>;
  /** It was started and is gone on with: a sub-agent keeps its own log. */
  goesOn(request: PendingRequest): boolean;
  warn(message: string, error?: unknown): void;
}

/**
 * Decides on open requests from what the log says of them. Keeps nothing that a restart would miss: verdicts are
 * remembered only so that hooks fire once for each call in one process.
 */
export class Judge {
  readonly #options: JudgeOptions;
  readonly #verdicts = new LazyMap<string, Promise<Verdict>>();
  readonly #confirmations: Map<string, Confirmation>;
  readonly #questions: Questions;

  constructor(options: JudgeOptions) {
    this.#options = options;
    this.#questions = new Questions(options);
    this.#confirmations = options.confirmations;
  }

  /** A handler has ended with a question of its own: what was answered before is no answer to it. */
  confirmationAsked(
    { callId, args, record: { redact } }: Decision,
    asked: ConfirmationRequest,
    { answers }: PendingRequest,
  ): void {
    const first = (answers ?? []).filter(({ requestId, quorum }) => !quorum && isPolicyQuestion(requestId)).length;
    this.#confirmations.set(callId, { asked, args, redact, first });
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
    signal: AbortSignal | undefined,
    peek = false,
  ): Promise<Step> {
    const step = await this.#step(request, hostTool, signal, peek);
    if (step.kind !== 'settle' || !step.decision) return step;
    return { ...step, decision: { requestedBy: this.#options.grounds(request).principal.id, ...step.decision } };
  }

  async #step(
    request: PendingRequest,
    hostTool: HostTool | undefined,
    signal: AbortSignal | undefined,
    peek: boolean,
  ): Promise<Step> {
    if (request.kind !== 'tool') return { kind: 'elicit', request };
    const loading = ensureValidator();
    if (loading) await loading;
    let call = gateCall(request, hostTool);
    const rules = this.#rules(request, hostTool, signal);
    const confirmation = this.#confirmations.get(call.callId);
    if (confirmation) {
      const { args, redact, asked } = confirmation;
      const { expiresIn } = asked;
      const expires = expiresIn === undefined ? {} : { expiresIn };
      const question = { args, ...hintOf(asked), ...expires, ...(redact ? { redact } : {}) };
      return this.#asked(request, hostTool, call, rules, question, 'policy', confirmation.first);
    }
    if (request.started) return this.#lost(request, hostTool, call, rules);
    if (request.decision) return this.#approved(request, hostTool, call, rules, approvalOf(request), false);
    if (hostTool) {
      // Not every executor checks what it announces.
      const checked = rules.validate(call.args);
      if (!checked.ok) {
        const policy = await this.#policyOn(call, call.args, rules);
        const facts = recordFacts(call, call.args, rules, policy);
        const decision: DecisionRecord = { ...facts, outcome: 'denied', by: 'gate', reason: checked.message };
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
    rules: HostRules,
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
    rules: HostRules,
  ): Promise<Step> {
    if (!hostTool?.tool.execute) return { kind: 'leave' };
    const approval = approvalOf(request);
    const { annotations } = hostTool.descriptor;
    if (annotations?.readOnly || annotations?.idempotent || this.#options.goesOn(request))
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
    rules: HostRules,
    asked: Question,
    kind: 'policy' | 'rerun',
    first = 0,
  ): Promise<Step> {
    const answers = request.answers ?? [];
    let question = asked;
    const no = (step: Step) => underRule(step, question, recordFacts(call, question.args, rules).asked);
    if (!rules.interactive)
      return no(kind === 'rerun' ? notAgain('host') : refusal('nobody can be asked here', 'host'));
    let preview = await this.#questions.preview(hostTool?.tool, question.args, rules.signal);
    let digest = previewDigest(call.tool.name, question.args, preview);
    for (let n = first; ; n++) {
      const requestId = `${call.callId}#${kind}${n === 0 ? '' : `.${n}`}`;
      const answer = answers.find((candidate) => candidate.requestId === requestId && !candidate.quorum);
      // A yes is for one more run, not for the runs after that.
      if (kind === 'rerun' && answer?.spent) continue;
      if (!answer) {
        const expiresAt = expiry(request, question);
        if (expiresAt !== undefined && expiresAt <= Date.now()) return no(refusal('nobody answered in time', 'expiry'));
        const open = await this.#questions.make(request, call, rules, question, {
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
      if (answer.action !== 'accept' && kind === 'rerun') return no(notAgain(by));
      if (answer.action === 'decline') return no(refusal(answer.reason ?? 'denied', by, answer.reason));
      if (answer.action === 'cancel') {
        const record: DecisionRecord = { outcome: 'denied', by, reason: 'cancelled' };
        return no({ kind: 'settle', result: errorResult('cancelled', 'cancelled: it never ran'), decision: record });
      }
      // A yes holds for what was shown, from somebody who may give it; else it is asked again.
      if (answer.digest !== digest || !this.#mayDecide(question, rules.principal, answer.by)) continue;
      const others = answer.args && (await this.#forOthers(call, rules, answer.args, answer.by, question.redact));
      if (others) {
        question = others;
        preview = await this.#questions.preview(hostTool?.tool, question.args, rules.signal);
        digest = previewDigest(call.tool.name, question.args, preview);
        continue;
      }
      const changed = answer.args ?? (question.args === call.args ? undefined : question.args);
      const { payload, ruleId, redact } = question;
      const approval: Approval = { by, args: changed, reason: answer.reason, ruleId, redact };
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
    rules: HostRules,
    args: Record<string, unknown>,
    by: Principal | undefined,
    redact?: readonly string[],
  ): Promise<Question | undefined> {
    const policy = await this.#policyOn(call, args, rules);
    const all = hidden(redact, policy.redact);
    const { outcome, approvers, reason, hint, ruleId } = policy;
    if (outcome !== 'ask_user' || !approvers) return undefined;
    const question: Question = {
      args,
      approvers,
      ...(reason === undefined ? {} : { reason }),
      ...(hint === undefined ? {} : { hint }),
      ...(ruleId === undefined ? {} : { ruleId }),
      ...(all.length > 0 ? { redact: all } : {}),
    };
    const decides = (approvers.quorum ?? 1) === 1 && this.#mayDecide(question, rules.principal, by);
    return decides ? undefined : question;
  }

  /** Why an agent's own question may not be answered with these arguments; undefined if it may. */
  async whyNotEdited(
    request: PendingRequest,
    hostTool: HostTool | undefined,
    given: Record<string, unknown>,
    by: Principal,
  ): Promise<string | undefined> {
    const call = gateCall(request, hostTool);
    const { inputSchema } = call.tool;
    await ensureValidator();
    const checked = validateArgs({ inputSchema }, given);
    const args = checked.ok ? checked.args : given;
    const rules = this.#rules(request, hostTool, undefined);
    const policy = await this.#policyOn(call, args, rules);
    if (policy.outcome === 'deny') return policy.reason ?? 'policy denies them';
    return (await this.#forOthers(call, rules, args, by)) && 'others must decide on them';
  }

  async #policyOn(call: GateCall, args: Record<string, unknown>, rules: GateRules): Promise<CheckedDecision> {
    const { policy, policyTimeoutMs: timeoutMs, signal } = rules;
    return evaluatePolicy(policy, policyRequest(call, args, rules), { timeoutMs, signal });
  }

  #mayDecide(question: Question, requestedBy: Principal, by: Principal | undefined): boolean {
    return !question.approvers || (by !== undefined && whyNot(question.approvers, requestedBy, by) === undefined);
  }

  async #approved(
    request: PendingRequest,
    hostTool: HostTool | undefined,
    call: GateCall,
    rules: HostRules,
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

  /** Who decides, and on what grounds, whatever the arguments. */
  rulesFor(request: PendingRequest, signal: AbortSignal | undefined): Omit<HostRules, 'validate'> {
    const { grounds, policyTimeoutMs } = this.#options;
    return { ...grounds(request), policyTimeoutMs, signal };
  }

  #rules(request: PendingRequest, hostTool: HostTool | undefined, signal: AbortSignal | undefined): HostRules {
    return {
      ...this.rulesFor(request, signal),
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
