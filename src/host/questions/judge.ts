import type {
  ApprovalQuestion,
  ConfirmationRequest,
  DecisionRecord,
  DisplayContent,
  LifecycleInterceptor,
  Principal,
  QuestionKind,
  ReportedRequest,
} from '../../contracts/index.ts';
import { CoxswainError, canonicalJson } from '../../contracts/index.ts';
import type { Approval, Decision, GateCall, GateRules, Question, Verdict } from '../../gate/index.ts';
import {
  approversOf,
  authorsWord,
  decide,
  decideApproved,
  ensureValidator,
  errorResult,
  floorFor,
  heldTo,
  isForNamed,
  nextStep,
  normaliseReturn,
  POLICY_TIMEOUT_MS,
  policyOn,
  putByPolicy,
  recordFacts,
  rerunQuestion,
  validateArgs,
  validatedInTime,
  votesFor,
} from '../../gate/index.ts';
import { unreachable } from '../../session/index.ts';
import type { Grounds, HostRules, HostTool } from '../tools/index.ts';
import { approvalOf, askedByHook, asTaken, floorOf, gateCall, validatorOf } from '../tools/index.ts';
import type { QuestionOptions } from './approval-question.ts';
import { CheckAllowance } from './check-allowance.ts';
import type { Confirmation, Confirmations } from './confirmation.ts';
import { confirmationOf, confirmationQuestion, isOvertaken } from './confirmation.ts';
import type { WordOnEdit } from './edited-args.ts';
import { whyNotEdited, wordOnEdit } from './edited-args.ts';
import { FiredHooks } from './fired-hooks.ts';
import { openCallFacts } from './open-call-facts.ts';
import type { JudgedCall } from './question-outcome.ts';
import { carriedVotes, questionOutcome } from './question-outcome.ts';
import { callsOf } from './run-inputs.ts';
import type { Step } from './step.ts';
import { refusal, refusedAgain } from './step.ts';
import { obliged, underPolicy, wantedSince } from './under-policy.ts';

export interface JudgeOptions extends QuestionOptions {
  grounds: (request: ReportedRequest) => Grounds;
  policyTimeoutMs: number | undefined;
  hooks: LifecycleInterceptor | undefined;
  hookTimeoutMs: number | undefined;
  /** Of the session among all of its host. */
  readonly name: string;
  /** What the host knows the executor by. */
  readonly agent: string;
  /** Questions that host tools have asked in mid-run: the same for all handles of a host. */
  readonly confirmations: Confirmations;
  /** It was started and is gone on with: a sub-agent keeps its own log. */
  goesOn(request: ReportedRequest): boolean;
  /** This host holds the session now: nobody else runs anything of it. */
  holds(): boolean;
  /** A call of the session, but of an agent other than the one it is opened with. */
  isOfAnother(request: ReportedRequest): boolean;
  /** The log of the session is its own, so that what its host asks about any call of it is kept there. */
  readonly keepsLog: boolean;
  warn(message: string, error?: unknown): void;
}

/**
 * Decides on open requests from what the log says of them, and from what policy says now. Keeps nothing that a restart
 * would miss: what hooks said is remembered only so that they fire once for each call in one process.
 */
export class Judge {
  readonly #options: JudgeOptions;
  readonly #hooks: FiredHooks;
  readonly #allowance = new CheckAllowance();

  constructor(options: JudgeOptions) {
    this.#options = options;
    this.#hooks = new FiredHooks(options);
  }

  /** A handler has ended with a question of its own. */
  confirmationAsked(decision: Decision, asked: ConfirmationRequest, request: ReportedRequest): void {
    const { confirmations, name } = this.#options;
    confirmations.set(name, decision.callId, confirmationOf(decision, asked, request));
  }

  /** Forgets what is not open any more. */
  retain(open: readonly ReportedRequest[]): void {
    const ids = callsOf(open);
    this.#hooks.retain(ids);
    this.#options.confirmations.retain(this.#options.name, ids);
  }

  settled(callId: string): void {
    this.#hooks.forget(callId);
    this.#options.confirmations.delete(this.#options.name, callId);
  }

  /** What to do about a request; `peek`: only to show it, no hook fires. */
  step(
    request: ReportedRequest,
    hostTool: HostTool | undefined,
    signal: AbortSignal | undefined,
    peek = false,
  ): Promise<Step> {
    return this.#step(request, hostTool, signal, peek).then((step) => {
      if (step.kind !== 'settle' || !step.decision) return step;
      return { ...step, decision: { requestedBy: this.#options.grounds(request).principal.id, ...step.decision } };
    });
  }

  async #step(
    request: ReportedRequest,
    hostTool: HostTool | undefined,
    signal: AbortSignal | undefined,
    peek: boolean,
  ): Promise<Step> {
    // Its turn is of another agent's, whose tool of that name is another: it is that agent's to go on with.
    if (this.#options.isOfAnother(request)) return { kind: 'leave' };
    if (request.kind !== 'tool') return this.#agentsOwn(request, hostTool, signal);
    const loading = ensureValidator();
    if (loading) await loading;
    let call = gateCall(request, hostTool, this.#options.agent);
    const rules = this.#rules(request, hostTool, signal);
    // Of what a person has edited; a look fires none.
    if (!peek) rules.beforeTool = this.#hooks.around(call, request, signal);
    // Not every executor checks what it announces, and only its host knows what a tool's own schema makes of it.
    const checking = hostTool && validatedInTime(rules.validate(call.args), signal);
    const checked = checking instanceof Promise ? await checking : checking;
    if (checked?.ok) call = asTaken(call, checked.args);
    const judged: JudgedCall = { request, hostTool, call, rules };
    const { confirmations, name } = this.#options;
    const confirmation = confirmations.get(name, call.callId);
    if (confirmation && isOvertaken(confirmation, request)) confirmations.delete(name, call.callId);
    else if (confirmation) {
      const under = await underPolicy(request, call, rules, confirmationQuestion(confirmation));
      if (under.kind === 'refuse') return { kind: 'settle', result: under.result, decision: under.record };
      return this.#asked(judged, under.question, 'policy', confirmation);
    }
    const next = nextStep(openCallFacts(request, hostTool, this.#options));
    switch (next.kind) {
      case 'wait':
        return { kind: 'leave' };
      case 'run':
        // What goes on is not begun anew: nobody is asked again.
        return next.isRerun && this.#options.goesOn(request)
          ? this.#approved(judged, approvalOf(request), true)
          : this.#decided(judged, next.isRerun);
      case 'inquire':
        return hostTool ? this.#lost(judged, hostTool) : { kind: 'leave' };
      case 'settle':
        // Unreached: a host's questions are derived, so that nothing on record refuses. In doubt, no.
        return refusal('denied', 'host');
      case 'judge':
        break;
      default:
        return unreachable(next, 'the next step of a call');
    }
    if (checked && !checked.ok) {
      const policy = await policyOn(call, call.args, rules);
      const facts = recordFacts(call, call.args, rules, policy);
      const decision: DecisionRecord = { ...facts, outcome: 'denied', by: 'gate', reason: checked.message };
      return { kind: 'settle', result: errorResult('invalid_args', checked.message), decision };
    }
    const deciding = this.#verdict(judged, peek);
    const verdict = deciding instanceof Promise ? await deciding : deciding;
    switch (verdict.kind) {
      case 'run': {
        const asked = await this.#stillAsked(judged, verdict.decision);
        if (asked) return asked;
        return canRun(request, hostTool)
          ? { kind: 'run', decision: verdict.decision, rerun: false }
          : { kind: 'leave', decision: verdict.decision.record };
      }
      case 'ask':
        return hooked(call, verdict.question.args, await this.#asked(judged, verdict.question, 'policy'));
      case 'result': {
        const asked = verdict.insteadOf && (await this.#stillAsked(judged, verdict.insteadOf));
        return asked ?? { kind: 'settle', result: verdict.result, decision: verdict.record };
      }
      case 'refuse':
        return { kind: 'settle', result: verdict.result, decision: verdict.record };
      default:
        return unreachable(verdict, 'a verdict');
    }
  }

  /** A question that was put is not taken back by a policy that would not put it now, but by a person's "always". */
  async #stillAsked(judged: JudgedCall, { args, record }: Decision): Promise<Step | undefined> {
    const put = putByPolicy(judged.request);
    if (!put || !(isForNamed(put) || !isRemembered(record.ruleId))) return undefined;
    return hooked(judged.call, args, await this.#asked(judged, heldTo({ args }, put), 'policy'));
  }

  /**
   * A question of the agent. About a call of its own tools it is for those whom policy obliges to; whether such a call is
   * run again they are asked by the host, which counts votes.
   */
  async #agentsOwn(
    request: ReportedRequest,
    hostTool: HostTool | undefined,
    signal: AbortSignal | undefined,
  ): Promise<Step> {
    const { handledBy, callId, requestId, elicitation, questions = [] } = request;
    if (handledBy !== 'agent' || callId === undefined || elicitation === 'auth_required')
      return { kind: 'elicit', request };
    const call = gateCall(request, hostTool, this.#options.agent);
    const rules = this.#rules(request, hostTool, signal);
    const { args = call.args } = approvalOf(request);
    const under = await underPolicy(request, call, rules, { args, hint: rerunQuestion(call.tool.name) });
    const isRerun = request.kind === 'rerun_unknown';
    if (!this.#options.keepsLog) {
      // An executor elsewhere asks, and runs by its own word what it asks about: its host says who may answer.
      if (under.kind === 'refuse') return { kind: 'elicit', request };
    } else if (under.kind === 'refuse') {
      return isRerun ? refusedAgain(under) : { kind: 'settle', result: under.result, decision: under.record };
    } else if (isRerun) return this.#asked({ request, hostTool, call, rules }, under.question, 'rerun');
    if (!isForNamed(under.question)) return { kind: 'elicit', request };
    const put = { requestId, ...approversOf(under.question) };
    return { kind: 'elicit', request: { ...request, questions: [...questions, put] } };
  }

  /** Policy is asked each time: what it said before may not hold any more. Hooks fire once. */
  #verdict({ request, hostTool, call, rules }: JudgedCall, peek: boolean): Verdict | Promise<Verdict> {
    const asked = askedByHook(request);
    const beforeTool = this.#hooks.once(call, request, rules.signal, peek);
    const info = () => this.#options.callInfo(request, call.callId, rules.signal);
    const needsApproval = floorFor(floorOf(request, hostTool), info);
    return decide(call, { ...rules, beforeTool, needsApproval, hookAsked: () => asked });
  }

  /** The host's before_tool hooks around one call. */
  beforeTool(call: GateCall, request: ReportedRequest, signal: AbortSignal | undefined): GateRules['beforeTool'] {
    return this.#hooks.around(call, request, signal);
  }

  /** Started by whoever held the session before; its author does not say that it may run again. */
  async #lost(judged: JudgedCall, { tool }: HostTool): Promise<Step> {
    const { request, call, rules } = judged;
    const approval = approvalOf(request);
    const wasLetRun = request.decision !== undefined;
    const args = approval.args ?? call.args;
    const { policyTimeoutMs: timeoutMs = POLICY_TIMEOUT_MS, warn } = this.#options;
    const about = { ...this.#options.callInfo(request, call.callId, rules.signal), args };
    const verdict = await authorsWord(tool, tool.name, about, { timeoutMs, warn });
    if (typeof verdict === 'object') return { kind: 'settle', result: normaliseReturn(verdict.result) };
    if (verdict === 'retry' && wasLetRun) return this.#decided(judged, true);
    const under = await underPolicy(request, call, rules, { args, hint: rerunQuestion(call.tool.name) });
    if (under.kind === 'refuse') return refusedAgain(under);
    return this.#asked(judged, under.question, 'rerun');
  }

  /** The yes that is in the log; or the question to those who have to say it since. */
  async #decided(judged: JudgedCall, rerun: boolean): Promise<Step> {
    const { request, call, rules } = judged;
    const wanted = await wantedSince(request, call, rules);
    if (!wanted) return this.#approved(judged, approvalOf(request), rerun);
    return this.#asked(judged, wanted, rerun ? 'rerun' : 'policy');
  }

  async #asked(judged: JudgedCall, question: Question, kind: QuestionKind, confirmation?: Confirmation): Promise<Step> {
    const standing = await questionOutcome({ ...judged, question, kind, confirmation }, this.#options);
    if (standing.kind === 'open') return { kind: 'ask', question: standing.question };
    if (standing.kind === 'refused') return standing.step;
    const { approval, payload, preview } = standing;
    const confirmed = confirmation ? { confirmed: true, payload } : undefined;
    const isAgain = kind === 'rerun' || confirmed !== undefined;
    return this.#approved(judged, approval, isAgain, confirmed, preview);
  }

  async #approved(
    { request, hostTool, call, rules }: JudgedCall,
    approval: Approval,
    rerun: boolean,
    confirmation?: { confirmed: boolean; payload?: unknown },
    preview?: readonly DisplayContent[],
  ): Promise<Step> {
    const verdict = await decideApproved(call, rules, approval);
    if (verdict.kind === 'run') {
      if (!canRun(request, hostTool)) return { kind: 'leave' };
      const beside = { ...(confirmation ? { confirmation } : {}), ...(preview ? { preview } : {}) };
      return { kind: 'run', decision: verdict.decision, rerun, ...beside };
    }
    if (verdict.kind === 'ask')
      throw new CoxswainError('INTERNAL', 'E_INTERNAL', 'an approved call was asked about again');
    // It was started once, whatever is said about the next time.
    if (rerun && !confirmation) return refusedAgain(verdict);
    return { kind: 'settle', result: verdict.result, decision: verdict.record };
  }

  /** As `obliged`. */
  obliges(
    request: ReportedRequest,
    hostTool: HostTool | undefined,
    signal: AbortSignal | undefined,
  ): ReturnType<typeof obliged> {
    return obliged(request, gateCall(request, hostTool, this.#options.agent), this.#rules(request, hostTool, signal));
  }

  /** Why an agent's own question may not be answered with these arguments; undefined if it may. */
  async whyNotEdited(
    request: ReportedRequest,
    hostTool: HostTool | undefined,
    given: Record<string, unknown>,
    by: Principal,
  ): Promise<string | undefined> {
    const call = gateCall(request, hostTool, this.#options.agent);
    await ensureValidator();
    const checked = validateArgs({ inputSchema: call.tool.inputSchema }, given);
    const args = checked.ok ? checked.args : given;
    return whyNotEdited(call, this.#rules(request, hostTool, undefined), args, by);
  }

  /** As {@link wordOnEdit}. */
  async word(
    request: ReportedRequest,
    hostTool: HostTool | undefined,
    args: Record<string, unknown>,
    by: Principal,
  ): Promise<WordOnEdit> {
    await ensureValidator();
    const call = gateCall(request, hostTool, this.#options.agent);
    return wordOnEdit(call, this.#rules(request, hostTool, undefined), args, by);
  }

  /** Who decides, and on what grounds, whatever the arguments. */
  rulesFor(request: ReportedRequest, signal: AbortSignal | undefined): Omit<HostRules, 'validate'> {
    const { policyTimeoutMs, approvers } = this.#options;
    return { ...this.#options.grounds(request), policyTimeoutMs, approvers, signal };
  }

  #rules(request: ReportedRequest, hostTool: HostTool | undefined, signal: AbortSignal | undefined): HostRules {
    return { ...this.rulesFor(request, signal), validate: validatorOf(hostTool, this.allowanceOf(request)) };
  }

  /** As {@link CheckAllowance.of}. */
  allowanceOf(request: ReportedRequest, callId?: string): object | undefined {
    return this.#allowance.of(request, callId);
  }

  /** Votes so far on a question that needs several. */
  votes(request: ReportedRequest, question: ApprovalQuestion, args: Record<string, unknown> | undefined): Set<string> {
    const { requestId, approval } = question;
    const { previewDigest: digest, requestedBy } = approval;
    const ballot = { requestId, digest, args, carried: carriedVotes(question) };
    return votesFor(request.answers ?? [], ballot, approval, requestedBy);
  }

  /** Why policy lets nobody run the call with these arguments; undefined where it might. */
  async whyDenied(
    request: ReportedRequest,
    hostTool: HostTool | undefined,
    args: Record<string, unknown>,
  ): Promise<string | undefined> {
    const policy = await policyOn(
      gateCall(request, hostTool, this.#options.agent),
      args,
      this.#rules(request, hostTool, undefined),
    );
    return policy.outcome === 'deny' ? (policy.reason ?? 'policy denies them') : undefined;
  }
}

/** A question about a call whose arguments a hook has changed: they are kept with it, to be shown again elsewhere. */
function hooked(call: GateCall, args: Record<string, unknown>, step: Step): Step {
  const isChanged = step.kind === 'ask' && args !== call.args && canonicalJson(args) !== canonicalJson(call.args);
  return isChanged ? { ...step, hooked: args } : step;
}

/** The rule is a person's answer, given once for all. */
function isRemembered(ruleId: string | undefined): boolean {
  return ruleId?.startsWith('remembered:') === true;
}

/** Somebody here has the handler: the agent, or this host. */
function canRun(request: ReportedRequest, hostTool: HostTool | undefined): boolean {
  return request.handledBy === 'agent' || hostTool?.tool.execute !== undefined;
}
