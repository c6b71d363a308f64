import type {
  ApprovalQuestion,
  ExecutorSession,
  HostAnswer,
  Principal,
  ReportedRequest,
  RequestAnswer,
  SessionInput,
} from '../../contracts/index.ts';
import { CoxswainError, callIdOf, canonicalJson, isHostQuestion } from '../../contracts/index.ts';
import { assertApprover, changedSinceShown, ensureValidator, personOf, putAs, yesesNeeded } from '../../gate/index.ts';
import { withoutHostFacts } from '../../session/link/index.ts';
import type { HostedFrame } from '../frame/index.ts';
import type { Judge } from '../questions/index.ts';
import { fromElicitation } from '../questions/index.ts';
import { validatorOf } from '../tools/index.ts';
import { decidedByVotes } from './decided.ts';

/** Whoever runs the session in this host has the last word on its calls. */
export interface Ruling {
  readonly judge: Judge;
  isBusy(callId: string | undefined): boolean;
}

/** Judges the answers of callers before anything is stored. */
export class AnswerChecks {
  readonly #inner: ExecutorSession;
  readonly #frame: HostedFrame;
  readonly #ruling: Ruling;
  #edits: { turnId: string | undefined } | undefined;
  /** Ids that the log has answers to, up to the event with this cursor. */
  readonly #answered = {
    questions: new Set<string>(),
    calls: new Set<string>(),
    cursor: undefined as string | undefined,
  };

  constructor(inner: ExecutorSession, frame: HostedFrame, ruling: Ruling) {
    this.#inner = inner;
    this.#frame = frame;
    this.#ruling = ruling;
  }

  /** The answer as it is stored: who, to what, and whether it decides. Neither is the caller's to say. */
  async decision(request: ReportedRequest, question: ApprovalQuestion, given: RequestAnswer): Promise<HostAnswer> {
    const answer = withoutHostFacts(given);
    const { requestedBy, previewDigest } = question.approval;
    const by = answer.by ?? this.#frame.principal;
    assertApprover(question.requestId, question.approval, requestedBy, by);
    const normal: HostAnswer = answer.kind === 'elicitation' ? fromElicitation(answer) : { ...answer, by };
    if (normal.kind === 'result') {
      throw new CoxswainError(
        'FAILED_PRECONDITION',
        'E_WRONG_ANSWER',
        `${question.requestId} asks for approve or deny`,
      );
    }
    const stored = { ...normal, by };
    if (stored.kind !== 'approve') return stored;
    const changed = changedSinceShown(question, request);
    if (stored.previewDigest === undefined ? changed.call : stored.previewDigest !== previewDigest) {
      throw previewChanged('what would happen has changed since it was shown');
    }
    // It is the number of an option: of a list that is another now it is another option.
    if (stored.remember !== undefined && changed.remember) {
      throw previewChanged('what can be remembered has changed since it was shown, so answer without remember');
    }
    assertOffered(question.requestId, stored.remember, question.approval.remember.length);
    assertEditable(question, stored.args);
    const taken = await this.#checkEdited(request, stored.args);
    // What is as it was shown is no edit.
    const args = taken && canonicalJson(taken) === canonicalJson(question.args) ? undefined : taken;
    if (stored.remember !== undefined && args && canonicalJson(args) !== canonicalJson(question.args)) {
      const message = `the edited arguments are for this one run of ${question.name}: answer without remember`;
      throw new CoxswainError('INVALID_ARGUMENT', 'E_WRONG_ANSWER', message);
    }
    const needed = yesesNeeded(question.approval);
    // It would be asked of the others, and could not run.
    if (args && needed > 1) await this.#assertNotDenied(request, args);
    const people = this.#frame.judge.votes(request, question, args).add(personOf(by));
    const { args: _, ...rest } = stored;
    return {
      ...rest,
      ...(args ? { args } : {}),
      previewDigest,
      ...(people.size < needed ? { quorum: needed } : {}),
    };
  }

  async #assertNotDenied(request: ReportedRequest, args: Record<string, unknown>): Promise<void> {
    const why = await this.#ruling.judge.whyDenied(request, this.#frame.toolOf(request), args);
    if (why === undefined) return;
    const { requestId } = request;
    const message = `the edited arguments are not allowed: ${why}`;
    throw new CoxswainError('PERMISSION_DENIED', 'E_WRONG_ANSWER', message, { details: { requestId } });
  }

  /** What is edited in one turn has one allowance, whoever edits. */
  #editsOf({ turnId }: ReportedRequest): object {
    if (this.#edits?.turnId !== turnId) this.#edits = { turnId };
    return this.#edits;
  }

  /** Edited arguments as the tool takes them: everybody who judges them judges the same. */
  async #checkEdited(
    request: ReportedRequest,
    args: Record<string, unknown> | undefined,
  ): Promise<Record<string, unknown> | undefined> {
    const tool = this.#frame.toolOf(request);
    if (!args || !tool) return args;
    const loading = ensureValidator();
    if (loading) await loading;
    const checked = await validatorOf(tool, this.#editsOf(request))(args);
    if (!checked.ok) {
      throw new CoxswainError(
        'INVALID_ARGUMENT',
        'E_WRONG_ANSWER',
        `the edited arguments do not fit: ${checked.message}`,
      );
    }
    return checked.args;
  }

  /** The agent's tools run under this host's policy, whoever asked the question. */
  async #checkEditedOf(request: ReportedRequest, args: Record<string, unknown>, by: Principal): Promise<void> {
    const tool = this.#frame.toolOf(request);
    const fault = await this.#ruling.judge.whyNotEdited(request, tool, args, by);
    if (fault === undefined) return;
    const message = `the edited arguments are not allowed: ${fault}`;
    throw new CoxswainError('PERMISSION_DENIED', 'E_WRONG_ANSWER', message, {
      details: { requestId: request.requestId },
    });
  }

  /**
   * An answer that is to no open question of the host: results for tools that the host runs come from the host alone,
   * and nobody lets a call run that nobody was asked about.
   */
  async direct(requestId: string, request: ReportedRequest | undefined, given: RequestAnswer): Promise<RequestAnswer> {
    const answer = withoutHostFacts(given);
    if (isHostQuestion(requestId)) await this.#assertOpen(requestId, request);
    if (request?.kind === 'elicitation' && answer.kind === 'approve' && answer.args) {
      await this.#checkEditedOf(request, answer.args, answer.by ?? this.#frame.principal);
    }
    if (request?.kind === 'elicitation' && answer.kind === 'approve' && !isHostQuestion(requestId)) {
      assertOffered(requestId, answer.remember, 0);
    }
    if (request?.handledBy === 'agent' && request.kind !== 'tool') await this.#agentsOwn(requestId, request, answer);
    if (request?.kind !== 'tool' || requestId !== request.callId) return answer;
    const runsElsewhere = request.running === true && !this.#frame.holds();
    if (runsElsewhere || this.#ruling.isBusy(request.callId)) throw runsNow(requestId);
    if (answer.kind === 'approve') {
      throw new CoxswainError(
        'FAILED_PRECONDITION',
        'E_WRONG_ANSWER',
        `nobody is asked about call ${requestId}; the host decides whether it runs`,
      );
    }
    const runsHere = request.handledBy === 'agent' || this.#frame.toolOf(request)?.tool.execute !== undefined;
    if (answer.kind === 'result' && runsHere) {
      throw new CoxswainError(
        'FAILED_PRECONDITION',
        'E_WRONG_ANSWER',
        `${request.name} runs under this host; its result is not taken from outside`,
      );
    }
    if (answer.kind !== 'result') return answer;
    // The caller runs it, as far as policy lets it run.
    const tool = this.#frame.toolOf(request);
    const step = await this.#frame.judge.step(request, tool, undefined, true);
    if (step.kind === 'settle') {
      throw new CoxswainError(
        'FAILED_PRECONDITION',
        'E_REQUEST_CLOSED',
        `${request.name} may not run; its result is not taken`,
      );
    }
    return step.kind === 'leave' && step.decision ? { ...answer, decision: step.decision } : answer;
  }

  /** A question of the agent about a call of its own is for those whom policy obliges to. */
  async #agentsOwn(requestId: string, request: ReportedRequest, answer: RequestAnswer): Promise<void> {
    if (request.elicitation === 'auth_required') return;
    const { judge, principal } = this.#frame;
    const { by = principal } = answer;
    const hostTool = this.#frame.toolOf(request);
    const step = await judge.step(request, hostTool, undefined, true);
    if (step.kind === 'ask') {
      const message = `the host asks about this call: answer ${step.question.requestId}`;
      throw new CoxswainError('FAILED_PRECONDITION', 'E_WRONG_ANSWER', message, { details: { requestId } });
    }
    const accepts = answer.kind === 'approve' || (answer.kind === 'elicitation' && answer.action === 'accept');
    if (accepts && (await judge.obliges(request, hostTool, undefined)) === 'denied') {
      const message = `policy denies ${request.name ?? 'this call'} now: an approval of it is not taken`;
      throw new CoxswainError('FAILED_PRECONDITION', 'E_REQUEST_CLOSED', message, { details: { requestId } });
    }
    const put = step.kind === 'elicit' ? putAs(step.request, requestId) : undefined;
    assertApprover(requestId, put, this.#frame.grounds(request).principal, by);
  }

  /** Votes are no answers: what they have decided is told from its request. */
  async #assertOpen(requestId: string, request: ReportedRequest | undefined): Promise<void> {
    const decided = request && decidedByVotes(request, requestId, this.#frame.grounds(request).principal);
    if (!decided) return this.wasAsked(requestId);
    const message = `${JSON.stringify(requestId)} is closed: ${decided.by ?? 'somebody'} has completed the votes; nothing was stored`;
    throw new CoxswainError('FAILED_PRECONDITION', 'E_REQUEST_CLOSED', message, { details: { requestId } });
  }

  /** @throws CoxswainError `FAILED_PRECONDITION / E_UNKNOWN_REQUEST` unless it was asked before, and answered */
  async wasAsked(requestId: string): Promise<void> {
    if (await this.#wasAnswered(requestId)) return;
    throw new CoxswainError(
      'FAILED_PRECONDITION',
      'E_UNKNOWN_REQUEST',
      `${JSON.stringify(requestId)} is not asked now; pending() lists what is open`,
      { details: { requestId } },
    );
  }

  /** Each event is read once, however many ids are asked about. */
  async #wasAnswered(requestId: string): Promise<boolean> {
    const { cursor } = this.#answered;
    const isKnown = () => this.#answered.questions.has(requestId) || this.#answered.calls.has(callIdOf(requestId));
    if (isKnown()) return true;
    for await (const event of this.#inner.events(cursor === undefined ? {} : { after: cursor })) {
      if (event.type === 'elicitation_response') this.#answered.questions.add(event.requestId);
      if (event.type === 'tool_response') this.#answered.calls.add(event.requestId);
      this.#answered.cursor = event.cursor ?? this.#answered.cursor;
    }
    return isKnown();
  }
}

/**
 * Whoever wants a yes to be remembered must not take it for granted where nothing is.
 * @throws CoxswainError `INVALID_ARGUMENT / E_WRONG_ANSWER`
 */
function assertOffered(requestId: string, index: number | undefined, offered: number): void {
  if (index === undefined || (index >= 0 && index < offered)) return;
  const which = offered === 0 ? 'answer without remember' : `give a number from 0 to ${offered - 1}, or none`;
  const message = `remember: ${index} is no option of ${requestId}, which offers ${offered}: ${which}`;
  throw new CoxswainError('INVALID_ARGUMENT', 'E_WRONG_ANSWER', message, { details: { requestId } });
}

/** @throws CoxswainError `INVALID_ARGUMENT / E_WRONG_ANSWER` for other arguments than a call of its kind can run with */
function assertEditable(
  { requestId, name, args: shown, approval }: ApprovalQuestion,
  args: Record<string, unknown> | undefined,
): void {
  if (!approval.fixedArgs || !args || canonicalJson(args) === canonicalJson(shown)) return;
  const message = `${name} runs with the arguments that are shown or not at all: approve it without args, or deny it`;
  throw new CoxswainError('INVALID_ARGUMENT', 'E_WRONG_ANSWER', message, { details: { requestId } });
}

function previewChanged(what: string): CoxswainError {
  const message = `${what}; look at the request again, and answer with its approval.previewDigest`;
  return new CoxswainError('FAILED_PRECONDITION', 'E_PREVIEW_CHANGED', message);
}

/** A caller's input without what only a host may say; with the decision that lets its result in. */
export function asCallers(input: SessionInput, checked: RequestAnswer): SessionInput {
  const own = withoutHostFacts(input);
  const decision = checked.kind === 'result' ? checked.decision : undefined;
  return own.kind === 'tool_result' && decision ? { ...own, decision } : own;
}

export function runsNow(requestId: string): CoxswainError {
  return new CoxswainError('FAILED_PRECONDITION', 'E_WRONG_ANSWER', `call ${requestId} is running; abort it first`);
}
