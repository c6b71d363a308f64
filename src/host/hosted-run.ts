import type {
  AgentEvent,
  CoxswainError,
  ExecutionOptions,
  Limits,
  PendingRequest,
  SessionInput,
  StreamEndEvent,
  TelemetrySpan,
  TurnTerms,
  Usage,
} from '../contracts/index.ts';
import { INTERFACE_VERSION, isCoxswainError, messageOf } from '../contracts/index.ts';
import type { StreamQueue } from '../session/index.ts';
import { endTurn } from '../session/index.ts';
import { Budget, strictestLimits } from './budget.ts';
import type { BusyClock } from './busy-clock.ts';
import { startClock } from './busy-clock.ts';
import type { HostedSession } from './hosted-session.ts';
import { runInner } from './inner-stream.ts';
import type { ApprovalQuestion } from './options.ts';
import { RunCalls } from './run-calls.ts';
import type { RunStep, Start } from './run-inputs.ts';
import { asAbort, closedByOthers, hasOutlived, isOpen, isOver, isQuestion, resultInput } from './run-inputs.ts';
import { RunQuestions } from './run-questions.ts';
import type { RunScope } from './run-scope.ts';
import { eventBase } from './run-scope.ts';
import { traceContextOf } from './run-spans.ts';
import type { CallersStream } from './subagent-events.ts';
import type { HostTool } from './tool-registry.ts';
import { passUserMessages } from './user-message.ts';

/** One stream of a hosted session: inner streams, and the gate between them. */
export class HostedRun implements RunScope, CallersStream {
  readonly session: HostedSession;
  readonly options: ExecutionOptions & { streamId: string };
  readonly span: TelemetrySpan | undefined;
  accepted = false;
  /** How the stream ended; `failed` where it was refused. */
  reason = 'failed';
  readonly #out: StreamQueue<AgentEvent>;
  readonly #controller = new AbortController();
  readonly #budget: Budget;
  /** Not in the log yet. */
  #terms: TurnTerms | undefined;
  #excluded: readonly string[] | undefined;
  #madeCalls: RunCalls | undefined;
  #madeQuestions: RunQuestions | undefined;
  #inputs: SessionInput[] = [];
  /** Calls of sub-agents that were open when the stream began. */
  #called: readonly PendingRequest[] = [];
  #clock: BusyClock | undefined;
  #follow: (() => void) | undefined;
  #hasFailed = false;
  #bell: (() => void) | undefined;
  #rung = false;
  #isOver = false;
  #ended: PromiseWithResolvers<string> | undefined;

  constructor(
    session: HostedSession,
    out: StreamQueue<AgentEvent>,
    options: ExecutionOptions & { streamId: string },
    terms: TurnTerms | undefined,
    span?: TelemetrySpan,
  ) {
    this.session = session;
    this.#out = out;
    this.options = options;
    this.#terms = terms;
    this.span = span;
    const { frame, descriptor } = session;
    const { constraints } = descriptor;
    const limits = strictestLimits(frame.options.limits, options.limits, {
      ...(constraints?.maxTimeMinutes === undefined ? {} : { minutes: constraints.maxTimeMinutes }),
      ...(constraints?.maxBudgetUsd === undefined ? {} : { usd: constraints.maxBudgetUsd }),
    });
    this.#budget = new Budget(limits, frame.options.prices, descriptor.metadata?.reportsCost === true);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get below(): CallersStream {
    return this;
  }

  /** Made when there is a call: most streams never have one. */
  get #calls(): RunCalls {
    this.#madeCalls ??= new RunCalls(this);
    return this.#madeCalls;
  }

  get #questions(): RunQuestions {
    this.#madeQuestions ??= new RunQuestions(this);
    return this.#madeQuestions;
  }

  push(event: AgentEvent): void {
    this.#out.push(event);
  }

  limits(used: Usage): Limits {
    return this.#budget.ofSubagent(used);
  }

  phase(): 'early' | 'open' | 'over' {
    if (this.#hasFailed) return 'over';
    return this.accepted ? 'open' : 'early';
  }

  see(event: AgentEvent): void {
    this.#budget.see(event, true);
  }

  /** What a sub-agent did. */
  show(event: AgentEvent): Promise<void> | undefined {
    this.#spend(event, true);
    this.#out.push(event);
    return this.#out.room(event.type === 'message' && event.partial === true);
  }

  /** Resolves when nothing more will be written, to how the stream ended. */
  get ended(): Promise<string> {
    if (this.#isOver) return Promise.resolve(this.reason);
    this.#ended ??= Promise.withResolvers();
    return this.#ended.promise;
  }

  /** It is about to run or runs here, or what it came to is on its way into the log. */
  isBusy(callId: string | undefined): boolean {
    return this.#madeCalls?.isBusy(callId) ?? false;
  }

  /** Somebody is answering this call: it is not started. */
  withhold(callId: string): void {
    this.#calls.withhold(callId);
  }

  giveBack(callId: string): void {
    this.#calls.giveBack(callId);
  }

  /** Ends one call that runs here. */
  abortCall(requestId: string, reason?: string): boolean {
    return this.#madeCalls?.abort(requestId, reason) ?? false;
  }

  /** A call was settled elsewhere: whoever still thinks about it need not. */
  dropCall(callId: string, reason?: string): void {
    this.#madeCalls?.drop(callId, reason);
  }

  /** See `RunQuestions.answering`. */
  answering(question: ApprovalQuestion): () => void {
    return this.#questions.answering(question);
  }

  showQuestion(question: ApprovalQuestion): void {
    this.#questions.show(question);
  }

  wake(): void {
    this.#rung = true;
    this.#bell?.();
  }

  abort(reason: CoxswainError): void {
    if (this.#controller.signal.aborted) return;
    this.#controller.abort(reason);
    this.#madeCalls?.abortAll();
    this.#out.release();
    this.wake();
  }

  /** Gets ready: nothing has been sent yet. */
  async open(inputs: SessionInput[]): Promise<void> {
    const { session, options } = this;
    const { signal } = options;
    if (signal?.aborted) this.abort(asAbort(signal.reason));
    else if (signal) {
      this.#follow = () => this.abort(asAbort(signal.reason));
      signal.addEventListener('abort', this.#follow, { once: true });
    }
    await this.#prepare(inputs);
    this.#called = await session.subagents.begin(inputs, options.whilePending);
    this.#inputs = await passUserMessages(session, inputs, this.#controller.signal);
  }

  /** The end as the caller sees it, with what its sub-agents have come to. */
  closed(end: StreamEndEvent): Promise<StreamEndEvent> {
    this.reason = end.reason;
    return this.session.subagents.finish(end, this.#called);
  }

  /** Nothing more will be written. */
  over(): void {
    this.#clock?.pause();
    this.#madeQuestions?.end();
    if (this.#follow) this.options.signal?.removeEventListener('abort', this.#follow);
    this.#madeCalls?.abortAll();
    if (this.span) endTurn(this.span, this.reason);
    this.#isOver = true;
    this.#ended?.resolve(this.reason);
  }

  /**
   * The end of a stream that has failed.
   * @throws the error itself where nothing was accepted: the stream never began
   */
  async failed(error: unknown): Promise<StreamEndEvent> {
    if (this.accepted) return this.#lost(error);
    const waiting = await this.#stillAsked(error);
    if (waiting) return waiting;
    throw error;
  }

  /** A sub-agent that has outlived its caller's turn asks again: there is no turn to go on with, but its question. */
  async #stillAsked(refused: unknown): Promise<StreamEndEvent | undefined> {
    if (!isCoxswainError(refused) || refused.code !== 'E_TURN_COMPLETED') return undefined;
    const { inner, subagents } = this.session;
    for (const request of await inner.pending()) {
      if (!request.detached || !(await subagents.waitsFor(request))) continue;
      this.accepted = true;
      this.#introduce();
      subagents.release(this);
      const pending = await this.#showOpen();
      const { turnId } = request;
      return { ...eventBase(this), turnId, type: 'stream_end', reason: 'input_required', data: { pending } };
    }
    return undefined;
  }

  /** The agent has not spoken on this handle: its host begins. */
  #introduce(): void {
    const { session } = this;
    if (session.introducedBy) return;
    session.introducedBy = 'host';
    const { name: agentId } = session.descriptor;
    this.#out.push({ ...eventBase(this), type: 'initialize', agentId, interfaceVersion: INTERFACE_VERSION });
  }

  /** The run cannot go on, and cannot say so in the log: what was accepted still gets its end. */
  async #lost(thrown: unknown): Promise<StreamEndEvent> {
    const { status, code, retryable } = isCoxswainError(thrown)
      ? thrown
      : { status: 'INTERNAL', code: 'E_INTERNAL', retryable: false };
    this.#out.push({
      ...eventBase(this),
      type: 'error',
      status,
      code,
      message: messageOf(thrown),
      fatal: true,
      retryable,
    });
    return {
      ...eventBase(this),
      type: 'stream_end',
      reason: 'failed',
      data: { pending: await this.session.inner.pending() },
    };
  }

  /** Inner streams one after the other, and between them the gate, until nothing is left that can be done here. */
  async toEnd(): Promise<StreamEndEvent> {
    const { signal } = this.#controller;
    const inputs = this.#inputs;
    let batch = inputs;
    let starts: Start[] = [];
    let last: StreamEndEvent | undefined;
    let wentOn = false;
    if (inputs.every((input) => input.kind === 'continue')) batch = (await this.#outlived()) ?? inputs;
    for (;;) {
      let end: StreamEndEvent | undefined;
      try {
        end = await this.#inner(batch);
        this.#sent(batch);
      } catch (error) {
        // Somebody else was faster with one of these answers; none of them was taken.
        if (!this.accepted || !isCoxswainError(error) || !closedByOthers.has(error.code)) throw error;
      }
      if (end && isOver(end)) {
        if (this.#madeCalls) await this.#outlive(end, starts);
        return end;
      }
      if (signal.aborted) return this.#abortInner();
      let open = end?.data.pending ?? (await this.session.inner.pending());
      // Approvals are looked at again; results that are still wanted are kept.
      batch = end
        ? []
        : batch.filter((input) => input.kind === 'tool_result' && this.#calls.keeps(open, input.requestId));
      // Their approvals are durable now; some may have been settled since.
      if (end)
        for (const { request, step } of starts) if (isOpen(open, request.callId)) this.#calls.start(request, step);
      this.#madeCalls?.startsNone();
      if (end) last = end;
      if (end && wentOn && open.length === 0) return end;
      const hasGoneOn = wentOn;
      wentOn = false;
      for (;;) {
        this.#stopIfSpent();
        if (signal.aborted) return this.#abortInner();
        const questions: PendingRequest[] = [];
        starts = [];
        this.#madeCalls?.startsNone();
        await this.#judgeAll(open, batch, starts, questions);
        if (batch.length > 0 || this.#calls.hasResults || signal.aborted) break;
        if (this.#calls.running === 0 && !this.#questions.isAsking(questions) && !this.#rung) {
          if (last && (questions.length > 0 || hasGoneOn)) {
            return this.#paused(last, questions.length > 0 ? questions : open);
          }
          // Everything was settled elsewhere. Once: a session that waits for nothing that is open would wait for ever.
          wentOn = true;
          batch.push({ kind: 'continue' });
          break;
        }
        if (this.#calls.running === 0) this.#clock?.pause();
        this.#questions.watchExpiry(questions);
        await this.#ring();
        this.#clock?.resume();
        if (this.#calls.hasResults || signal.aborted) break;
        const now = await this.session.inner.pending();
        // Settled or answered elsewhere: whoever waited for it can go on.
        if (open.some((request) => !now.some(({ requestId }) => requestId === request.requestId))) {
          batch.push({ kind: 'continue' });
          break;
        }
        open = now;
      }
      if (signal.aborted) return this.#abortInner();
      // Results that come at the same moment go together.
      if (this.#calls.hasResults && this.#calls.running > 0) await new Promise((resolve) => setImmediate(resolve));
      batch.push(...this.#calls.takeResults());
    }
  }

  /** Calls that have outlived their turn and were answered since run first: what they come to opens a new turn. */
  async #outlived(): Promise<SessionInput[] | undefined> {
    const { frame, inner } = this.session;
    const { signal } = this.#controller;
    const { subagents } = this.session;
    const open = (await inner.pending()).filter(
      (request) => hasOutlived(request) || (request.detached === true && subagents.isResumable(request)),
    );
    const batch: SessionInput[] = [];
    for (const request of open) {
      const tool = frame.tools.get(request.name ?? '');
      const step = await frame.judge.step(request, tool, signal);
      if (step.kind === 'settle') batch.push(resultInput(request, step.result, step.decision));
      if (step.kind !== 'run') continue;
      const starts: Start[] = [];
      const approvals: SessionInput[] = [];
      this.#approve(request, step, tool, approvals, starts);
      const [start] = starts;
      if (!start) batch.push(...approvals);
      else if (await this.#recordStart(request, step)) this.#calls.start(request, step);
    }
    while (this.#calls.running > 0 && !this.#calls.hasResults && !signal.aborted) await this.#ring();
    if (signal.aborted) batch.push(...this.#calls.interrupted());
    batch.push(...this.#calls.takeResults());
    return batch.length > 0 ? batch : undefined;
  }

  /** Calls that outlive the turn here run to their end: the model hears of what they came to in the next turn. */
  async #outlive(end: StreamEndEvent, starts: readonly Start[]): Promise<void> {
    const { frame, inner } = this.session;
    const { signal } = this.#controller;
    const open = end.data.pending ?? [];
    for (const { request, step } of starts) {
      const isLong = frame.tools.get(request.name ?? '')?.descriptor.annotations?.longRunning;
      if (!isLong && isOpen(open, request.callId)) this.#calls.start(request, step);
    }
    this.#calls.abortClosed(open);
    while (this.#calls.running > 0 && !signal.aborted) await this.#ring();
    const results = [...this.#calls.takeResults(), ...this.#calls.interrupted()];
    for (const { requestId, result, decision, interim } of results) {
      if (interim || !isOpen(open, requestId)) continue;
      try {
        await inner.respond(requestId, { kind: 'result', result, ...(decision ? { decision } : {}) });
      } catch (error) {
        if (!isCoxswainError(error) || !closedByOthers.has(error.code)) throw error;
      }
    }
  }

  /** No turn is there that could hold the start of the call: it is stored alone. False: another host was faster. */
  async #recordStart(request: PendingRequest, { decision }: RunStep): Promise<boolean> {
    const { args, by } = decision.record;
    const person = /^user:(.+)$/s.exec(by)?.[1];
    const settlement = await this.session.inner.respond(request.requestId, {
      kind: 'approve',
      starts: true,
      decision: decision.record,
      ...(args ? { args } : {}),
      ...(person === undefined ? {} : { by: { id: person } }),
    });
    return settlement.status === 'settled';
  }

  /** An inner stream has taken these inputs. */
  #sent(batch: readonly SessionInput[]): void {
    this.accepted = true;
    this.session.introducedBy ??= 'agent';
    if (this.#terms) this.session.frame.shared.begun = this.#terms;
    this.#terms = undefined;
    this.session.subagents.release(this);
    for (const input of batch) if (input.kind === 'tool_result') this.#madeCalls?.stored(input.requestId);
  }

  /** The agent's own end of an aborted run; what was called ends before its call is closed. */
  async #abortInner(): Promise<StreamEndEvent> {
    await this.session.subagents.abortAll(messageOf(this.#controller.signal.reason));
    return this.#inner([{ kind: 'continue' }]);
  }

  #inner(batch: readonly SessionInput[]): Promise<StreamEndEvent> {
    const { frame, inner } = this.session;
    const mode = frame.modeOf(this.options.permissionMode);
    // What its models cost, the host counts.
    const { usd, ...rest } = this.#budget.ofAgent();
    const limits = usd === undefined ? this.#budget.ofAgent() : rest;
    const options: ExecutionOptions = {
      ...this.options,
      hostToolExecution: true,
      limits,
      signal: this.#controller.signal,
      ...(mode === undefined ? {} : { permissionMode: mode }),
      ...(this.#excluded === undefined ? {} : { excludeTools: this.#excluded }),
      ...(this.#terms ? { terms: this.#terms } : {}),
      ...traceContextOf(frame, this.span),
    };
    const see = this.#watches ? (event: AgentEvent) => this.#see(event) : undefined;
    return runInner(inner, batch, options, this.#out, see, this.session.introducedBy === 'host');
  }

  /** Somebody must know of each event of an inner stream; else it goes straight to whoever reads. */
  get #watches(): boolean {
    return this.#budget.limits.usd !== undefined || this.session.frame.hasSubagents;
  }

  #see(event: AgentEvent): void {
    // Nothing of a sub-agent may follow it; to the caller of a sub-agent it is no end.
    if (event.type === 'error' && event.fatal && this.session.frame.depth === 0) this.#hasFailed = true;
    this.#spend(event);
  }

  /** Counts what an inner stream costs; one that goes on beyond the limit is ended when its next model call speaks. */
  #spend(event: AgentEvent, isBelow = false): void {
    if (event.type === 'usage') this.#budget.see(event, isBelow);
    else if (event.type === 'message' && event.role === 'agent') this.#stopIfSpent();
  }

  #stopIfSpent(): void {
    const over = this.#budget.exceeded();
    if (!over || this.#controller.signal.aborted) return;
    // Not a limit's reason of its own: the end would not say why.
    if (over.code === 'E_NO_PRICE') {
      const { status, code, message, retryable } = over;
      this.#out.push({ ...eventBase(this), type: 'error', status, code, message, fatal: false, retryable });
    }
    this.abort(over);
  }

  /** Looks at each open request and does what can be done about it now. */
  async #judgeAll(
    open: readonly PendingRequest[],
    batch: SessionInput[],
    starts: Start[],
    questions: PendingRequest[],
  ): Promise<void> {
    const { frame } = this.session;
    frame.judge.retain(open);
    this.#calls.retain(open);
    const mine: PendingRequest[] = [];
    for (const request of open) {
      if (this.isBusy(request.callId)) continue;
      const below = await this.session.subagents.waitsFor(request);
      if (below) questions.push(...below);
      else mine.push(request);
    }
    const toolOf = (request: PendingRequest) =>
      request.name === undefined ? undefined : frame.tools.get(request.name);
    const steps = await Promise.all(
      mine.map((request) =>
        frame.judge.step(request, toolOf(request), this.#calls.signalOf(request.callId ?? request.requestId)),
      ),
    );
    for (const [index, step] of steps.entries()) {
      const request = mine[index] as PendingRequest;
      switch (step.kind) {
        case 'run':
          this.#approve(request, step, toolOf(request), batch, starts);
          break;
        case 'settle':
          frame.judge.settled(request.callId ?? '');
          this.#calls.settles(request.callId ?? '');
          batch.push(resultInput(request, step.result, step.decision));
          break;
        case 'ask':
          questions.push(step.question);
          this.#questions.ask(step.question);
          break;
        case 'elicit':
          questions.push(step.request);
          this.#questions.elicit(step.request);
          break;
        default:
          questions.push(request);
      }
    }
  }

  async #ring(): Promise<void> {
    if (!this.#rung) {
      await new Promise<void>((resolve) => {
        this.#bell = resolve;
      });
    }
    this.#bell = undefined;
    this.#rung = false;
  }

  /** Requests that are open after the turn's end, as the questions that they are. */
  async shown(end: StreamEndEvent): Promise<StreamEndEvent> {
    const open = end.data.pending ?? [];
    const isStored = end.seq !== undefined;
    // After a fatal error nothing is shown but the end: `pending()` has the questions.
    if (!isStored || open.length === 0 || end.data.transfer || end.reason === 'failed') return end;
    await this.session.subagents.settled();
    return { ...end, data: { ...end.data, pending: await this.#showOpen() } };
  }

  async #showOpen(): Promise<PendingRequest[]> {
    const pending = await this.session.pending();
    const { subagents } = this.session;
    for (const request of pending) {
      if (isQuestion(request) && !subagents.hasAsked(request.requestId)) this.showQuestion(request);
    }
    return pending;
  }

  /** Nothing that can be done here is left: the end says what is open. */
  #paused(end: StreamEndEvent, questions: PendingRequest[]): StreamEndEvent {
    const only = questions.length === 1 ? questions[0] : undefined;
    const { transfer, ...data } = end.data;
    // A transfer that a person is asked about is a question like any other.
    const keep = transfer && only?.requestId === transfer.requestId ? { transfer } : {};
    return {
      ...end,
      reason: 'transfer' in keep ? end.reason : 'input_required',
      data: { ...data, ...keep, pending: questions },
    };
  }

  async #prepare(inputs: readonly SessionInput[]): Promise<void> {
    const { excludeTools = [], permissionMode } = this.options;
    const { frame } = this.session;
    const excluded = await frame.excluded(frame.modeOf(permissionMode));
    if (excluded.length > 0) this.#excluded = [...excludeTools, ...excluded];
    const goesOn = !inputs.some((input) => input.kind === 'message');
    const { usd, tokens } = this.#budget.limits;
    const counts = usd !== undefined || (tokens !== undefined && frame.hasSubagents);
    if (counts && goesOn) await this.#budget.seeTurn(this.session.inner.events());
    this.#clock = startClock(this.#budget.limits.minutes, (error) => this.abort(error));
  }

  /** What a crash could make run twice gets its decision into the log before it starts; the rest starts at once. */
  #approve(request: PendingRequest, step: RunStep, tool: HostTool | undefined, batch: SessionInput[], starts: Start[]) {
    const annotations = tool?.descriptor.annotations;
    const { subagents } = this.session;
    // A sub-agent that asks is found again by the start of its call, whatever it says of itself.
    const isHarmless = (annotations?.readOnly || annotations?.idempotent) && !subagents.of(request);
    if (request.handledBy === 'host' && (isHarmless || subagents.isResumable(request))) {
      this.#calls.start(request, step);
      return;
    }
    const { args, record } = step.decision;
    batch.push({
      kind: 'tool_approval',
      requestId: request.requestId,
      ...(record.args ? { args } : {}),
      decision: record,
      ...(step.rerun ? { rerun: true } : {}),
    });
    if (request.handledBy !== 'host') return;
    starts.push({ request, step });
    this.#calls.starts(request.callId ?? request.requestId);
  }
}
