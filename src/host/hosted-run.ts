import type {
  AgentEvent,
  ExecutionOptions,
  Limits,
  PendingRequest,
  RequestAnswer,
  SessionInput,
  Settlement,
  StreamEndEvent,
  ToolResult,
  ToolResultInput,
  ToolUpdate,
} from '../contracts/index.ts';
import { CoxswainError, isCoxswainError, messageOf } from '../contracts/index.ts';
import { errorResult } from '../gate/index.ts';
import type { StreamQueue } from '../session/index.ts';
import { isoTime } from '../session/index.ts';
import { Budget, BusyClock, MAX_TIMER_MS, strictestLimits } from './budget.ts';
import type { HostedSession } from './hosted-session.ts';
import { runInner } from './inner-stream.ts';
import type { Step } from './judge.ts';
import type { ApprovalQuestion } from './options.ts';
import { DEFAULT_TOOL_CONCURRENCY, DEFAULT_TOOL_TIMEOUT_MS } from './options.ts';
import { RunQueue } from './run-queue.ts';
import { runTailCalls } from './tail-calls.ts';
import type { HostTool } from './tool-registry.ts';
import { runHostTool, supports } from './tool-runner.ts';

type RunStep = Extract<Step, { kind: 'run' }>;

/** One stream of a hosted session: inner streams, and the gate between them. */
export class HostedRun {
  readonly #session: HostedSession;
  readonly #out: StreamQueue<AgentEvent>;
  readonly #options: ExecutionOptions & { streamId: string };
  readonly #respond: (requestId: string, answer: RequestAnswer) => Promise<Settlement>;
  readonly #controller = new AbortController();
  readonly #queue: RunQueue;
  /** Calls whose start is on its way into the log. */
  readonly #starting = new Set<string>();
  /** Calls that run here, by id. */
  readonly #running = new Map<string, AbortController>();
  /** Calls that were brought to a result here which is not stored yet. */
  readonly #unstored = new Set<string>();
  /** Results that wait for the next inner stream. */
  #ready: ToolResultInput[] = [];
  readonly #shownQuestions = new Set<string>();
  /** Questions that handlers were given in this stream; true while a handler thinks about one. */
  readonly #asked = new Map<string, boolean>();
  readonly #budget: Budget;
  readonly #limits: Limits;
  readonly #withheld = new Set<string>();
  #bell: (() => void) | undefined;
  #rung = false;
  #expiry: ReturnType<typeof setTimeout> | undefined;
  /** Nothing more will be written. */
  finish: (reason: string) => void = () => {};
  /** How the stream ended; `failed` where it was refused. */
  reason = 'failed';
  readonly ended: Promise<string> = new Promise((resolve) => {
    this.finish = resolve;
  });
  /** The first inner stream has begun: what fails from now on ends the stream. */
  #accepted = false;

  constructor(
    session: HostedSession,
    out: StreamQueue<AgentEvent>,
    options: ExecutionOptions & { streamId: string },
    respond: (requestId: string, answer: RequestAnswer) => Promise<Settlement>,
  ) {
    this.#session = session;
    this.#out = out;
    this.#options = options;
    this.#respond = respond;
    const { frame, descriptor } = session;
    const { constraints } = descriptor;
    this.#limits = strictestLimits(frame.options.limits, options.limits, {
      ...(constraints?.maxTimeMinutes === undefined ? {} : { minutes: constraints.maxTimeMinutes }),
      ...(constraints?.maxBudgetUsd === undefined ? {} : { usd: constraints.maxBudgetUsd }),
    });
    this.#budget = new Budget(this.#limits, frame.options.prices, descriptor.metadata?.reportsCost === true);
    this.#queue = new RunQueue(frame.options.toolConcurrency ?? DEFAULT_TOOL_CONCURRENCY);
  }

  /** It is about to run or runs here, or what it came to is on its way into the log. */
  isBusy(callId: string | undefined): boolean {
    if (callId === undefined) return false;
    return this.#starting.has(callId) || this.#running.has(callId) || this.#unstored.has(callId);
  }

  /** Somebody is answering this call: it is not started. */
  withhold(callId: string): void {
    this.#withheld.add(callId);
  }

  giveBack(callId: string): void {
    this.#withheld.delete(callId);
  }

  wake(): void {
    this.#rung = true;
    this.#bell?.();
  }

  abort(reason: CoxswainError): void {
    if (this.#controller.signal.aborted) return;
    this.#controller.abort(reason);
    this.#out.release();
    this.wake();
  }

  /** Ends one call that runs here. */
  abortCall(requestId: string, reason = 'aborted'): boolean {
    const controller = this.#running.get(requestId);
    controller?.abort(new CoxswainError('ABORTED', 'E_ABORTED', reason));
    return controller !== undefined;
  }

  async drive(inputs: SessionInput[]): Promise<void> {
    const outer = this.#options.signal;
    const follow = () => this.abort(asAbort(outer?.reason));
    let clock: BusyClock | undefined;
    outer?.addEventListener('abort', follow, { once: true });
    try {
      if (outer?.aborted) follow();
      clock = await this.#startClock(inputs);
      const end = await this.#toEnd(await this.#userMessage(inputs), clock);
      this.reason = end.reason;
      this.#out.push(end);
    } finally {
      clock?.pause();
      clearTimeout(this.#expiry);
      outer?.removeEventListener('abort', follow);
      for (const controller of this.#running.values()) controller.abort(this.#controller.signal.reason);
    }
  }

  async #toEnd(inputs: SessionInput[], clock: BusyClock | undefined): Promise<StreamEndEvent> {
    try {
      return await this.#shown(await this.#loop(inputs, clock));
    } catch (error) {
      if (!this.#accepted) throw error;
      return this.#lost(error);
    }
  }

  /** The run cannot go on, and cannot say so in the log: what was accepted still gets its end. */
  async #lost(thrown: unknown): Promise<StreamEndEvent> {
    const { status, code, retryable } = isCoxswainError(thrown)
      ? thrown
      : { status: 'INTERNAL', code: 'E_INTERNAL', retryable: false };
    const base = () => ({
      id: crypto.randomUUID(),
      timestamp: isoTime(),
      sessionId: this.#session.id,
      streamId: this.#options.streamId,
      source: 'host' as const,
    });
    this.#out.push({ ...base(), type: 'error', status, code, message: messageOf(thrown), fatal: true, retryable });
    return { ...base(), type: 'stream_end', reason: 'failed', data: { pending: await this.#session.inner.pending() } };
  }

  async #loop(inputs: SessionInput[], clock: BusyClock | undefined): Promise<StreamEndEvent> {
    const { signal } = this.#controller;
    let batch = inputs;
    let starts: { request: PendingRequest; step: RunStep }[] = [];
    let last: StreamEndEvent | undefined;
    let wentOn = false;
    if (inputs.every((input) => input.kind === 'continue')) batch = (await this.#outlived()) ?? inputs;
    for (;;) {
      const end = await this.#send(batch);
      if (end && isOver(end)) {
        await this.#outlive(end, starts);
        return end;
      }
      if (signal.aborted) return this.#inner([{ kind: 'continue' }]);
      let open = end?.data.pending ?? (await this.#session.inner.pending());
      // Approvals are looked at again; results that are still wanted are kept.
      batch = end ? [] : batch.filter((input) => input.kind === 'tool_result' && this.#keeps(open, input.requestId));
      // Their approvals are durable now; some may have been settled since.
      if (end) for (const { request, step } of starts) if (isOpen(open, request.callId)) this.#start(request, step);
      this.#starting.clear();
      if (end) last = end;
      if (end && wentOn && open.length === 0) return end;
      const hasGoneOn = wentOn;
      wentOn = false;
      for (;;) {
        this.#stopIfSpent();
        if (signal.aborted) return this.#inner([{ kind: 'continue' }]);
        const questions: PendingRequest[] = [];
        starts = [];
        this.#starting.clear();
        await this.#judgeAll(open, batch, starts, questions);
        if (batch.length > 0 || this.#ready.length > 0 || signal.aborted) break;
        if (this.#running.size === 0 && !this.#isAsking(questions) && !this.#rung) {
          if (last && (questions.length > 0 || hasGoneOn)) {
            return this.#paused(last, questions.length > 0 ? questions : open);
          }
          // Everything was settled elsewhere. Once: a session that waits for nothing that is open would wait for ever.
          wentOn = true;
          batch.push({ kind: 'continue' });
          break;
        }
        if (this.#running.size === 0) clock?.pause();
        this.#watchExpiry(questions);
        await this.#ring();
        clock?.resume();
        if (this.#ready.length > 0 || signal.aborted) break;
        const now = await this.#session.inner.pending();
        // Settled or answered elsewhere: whoever waited for it can go on.
        if (open.some((request) => !now.some(({ requestId }) => requestId === request.requestId))) {
          batch.push({ kind: 'continue' });
          break;
        }
        open = now;
      }
      if (signal.aborted) return this.#inner([{ kind: 'continue' }]);
      // Results that come at the same moment go together.
      if (this.#ready.length > 0 && this.#running.size > 0) await new Promise((resolve) => setImmediate(resolve));
      batch.push(...this.#ready.splice(0));
    }
  }

  /** Calls that have outlived their turn and were answered since run first: what they come to opens a new turn. */
  async #outlived(): Promise<SessionInput[] | undefined> {
    const { frame, inner } = this.#session;
    const { signal } = this.#controller;
    const open = (await inner.pending()).filter(hasOutlived);
    const batch: SessionInput[] = [];
    for (const request of open) {
      const tool = frame.tools.get(request.name ?? '');
      const step = await frame.judge.step(request, tool, signal);
      if (step.kind === 'settle') batch.push(resultInput(request, step.result, step.decision));
      if (step.kind !== 'run') continue;
      const starts: { request: PendingRequest; step: RunStep }[] = [];
      const approvals: SessionInput[] = [];
      this.#approve(request, step, tool, approvals, starts);
      const [start] = starts;
      if (!start) batch.push(...approvals);
      else if (await this.#recordStart(request, step)) this.#start(request, step);
    }
    while (this.#running.size > 0 && this.#ready.length === 0 && !signal.aborted) await this.#ring();
    for (const request of open) {
      if (!signal.aborted || !this.#running.has(request.callId ?? '')) continue;
      batch.push(
        resultInput(request, errorResult('interrupted', `interrupted: ${messageOf(signal.reason)}`), undefined),
      );
    }
    batch.push(...this.#ready.splice(0));
    return batch.length > 0 ? batch : undefined;
  }

  /** Calls that outlive the turn here run to their end: the model hears of what they came to in the next turn. */
  async #outlive(end: StreamEndEvent, starts: readonly { request: PendingRequest; step: RunStep }[]): Promise<void> {
    const { frame, inner } = this.#session;
    const { signal } = this.#controller;
    const open = end.data.pending ?? [];
    for (const { request, step } of starts) {
      const isLong = frame.tools.get(request.name ?? '')?.descriptor.annotations?.longRunning;
      if (!isLong && isOpen(open, request.callId)) this.#start(request, step);
    }
    for (const [callId, controller] of this.#running) if (!isOpen(open, callId)) controller.abort(signal.reason);
    while (this.#running.size > 0 && !signal.aborted) await this.#ring();
    const results = this.#ready.splice(0);
    for (const requestId of this.#running.keys()) {
      const result = errorResult('interrupted', `interrupted: ${messageOf(signal.reason)}`);
      results.push({ kind: 'tool_result', requestId, result });
    }
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
    const settlement = await this.#session.inner.respond(request.requestId, {
      kind: 'approve',
      starts: true,
      ...(args ? { args } : {}),
      ...(person === undefined ? {} : { by: { id: person } }),
    });
    return settlement.status === 'settled';
  }

  /** Undefined: somebody else was faster with one of these answers; none of them was taken. */
  async #send(batch: readonly SessionInput[]): Promise<StreamEndEvent | undefined> {
    try {
      const end = await this.#inner(batch);
      this.#accepted = true;
      for (const input of batch) if (input.kind === 'tool_result') this.#unstored.delete(input.requestId);
      return end;
    } catch (error) {
      if (this.#accepted && isCoxswainError(error) && closedByOthers.has(error.code)) return undefined;
      throw error;
    }
  }

  #inner(batch: readonly SessionInput[]): Promise<StreamEndEvent> {
    const { frame, inner } = this.#session;
    const { mode } = frame;
    const { usd: _, ...limits } = this.#limits;
    const options: ExecutionOptions = {
      ...this.#options,
      hostToolExecution: true,
      limits,
      signal: this.#controller.signal,
      ...(mode === undefined ? {} : { permissionMode: mode }),
      ...(this.#excluded === undefined ? {} : { excludeTools: this.#excluded }),
    };
    return runInner(inner, batch, options, this.#out, this.#limits.usd === undefined ? undefined : this.#spend);
  }

  /** Counts what an inner stream costs; one that goes on beyond the limit is ended when its next model call speaks. */
  readonly #spend = (event: AgentEvent): void => {
    if (event.type === 'usage') this.#budget.see(event);
    else if (event.type === 'message' && event.role === 'agent') this.#stopIfSpent();
  };

  #stopIfSpent(): void {
    const over = this.#budget.exceeded();
    if (!over || this.#controller.signal.aborted) return;
    // Not a limit's reason of its own: the end would not say why.
    if (over.code === 'E_NO_PRICE') {
      const { status, code, message, retryable } = over;
      const base = {
        id: crypto.randomUUID(),
        timestamp: isoTime(),
        sessionId: this.#session.id,
        source: 'host' as const,
      };
      const { streamId } = this.#options;
      this.#out.push({ ...base, streamId, type: 'error', status, code, message, fatal: false, retryable });
    }
    this.abort(over);
  }

  #excluded: readonly string[] | undefined;

  /** Looks at each open request and does what can be done about it now. */
  async #judgeAll(
    open: readonly PendingRequest[],
    batch: SessionInput[],
    starts: { request: PendingRequest; step: RunStep }[],
    questions: PendingRequest[],
  ): Promise<void> {
    const { frame } = this.#session;
    frame.judge.retain(open);
    const mine = open.filter((request) => !this.isBusy(request.callId));
    const toolOf = (request: PendingRequest) =>
      request.name === undefined ? undefined : frame.tools.get(request.name);
    const steps = await Promise.all(
      mine.map((request) => frame.judge.step(request, toolOf(request), this.#controller.signal)),
    );
    for (const [index, step] of steps.entries()) {
      const request = mine[index] as PendingRequest;
      switch (step.kind) {
        case 'run':
          this.#approve(request, step, toolOf(request), batch, starts);
          break;
        case 'settle':
          frame.judge.settled(request.callId ?? '');
          this.#unstored.add(request.callId ?? '');
          batch.push(resultInput(request, step.result, step.decision));
          break;
        case 'ask':
          questions.push(step.question);
          this.#ask(step.question);
          break;
        case 'elicit':
          questions.push(step.request);
          this.#elicit(step.request);
          break;
        default:
          questions.push(request);
      }
    }
  }

  /** What a crash could make run twice gets its decision into the log before it starts; the rest starts at once. */
  #approve(
    request: PendingRequest,
    step: RunStep,
    tool: HostTool | undefined,
    batch: SessionInput[],
    starts: { request: PendingRequest; step: RunStep }[],
  ): void {
    const annotations = tool?.descriptor.annotations;
    if (request.handledBy === 'host' && (annotations?.readOnly || annotations?.idempotent)) {
      this.#start(request, step);
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
    this.#starting.add(request.callId ?? request.requestId);
  }

  #start(request: PendingRequest, step: RunStep): void {
    const { frame, id } = this.#session;
    const callId = request.callId ?? request.requestId;
    this.#starting.delete(callId);
    if (this.#withheld.has(callId)) return;
    const hostTool = frame.tools.get(request.name ?? '');
    if (!hostTool) return;
    const { annotations } = hostTool.descriptor;
    const repeatable = annotations?.readOnly || annotations?.idempotent;
    const controller = new AbortController();
    const stop = () => controller.abort(this.#controller.signal.reason);
    this.#controller.signal.addEventListener('abort', stop, { once: true });
    this.#running.set(callId, controller);
    const call = {
      callId,
      sessionId: id,
      agentPath: request.agentPath,
      hostTool,
      decision: step.decision,
      ...(step.confirmation ? { confirmation: step.confirmation } : {}),
    };
    this.#queue.add(annotations?.exclusive === true, async () => {
      try {
        const options = this.#toolOptions(request);
        const outcome = await runHostTool(call, options, controller.signal);
        if (outcome.kind === 'confirm') {
          frame.judge.confirmationAsked(step.decision, outcome.request, request);
          return;
        }
        const tail = await runTailCalls(outcome.result, call, frame, options, controller.signal);
        frame.judge.settled(callId);
        if (this.#controller.signal.aborted) return;
        const record = tail.decisions ? { ...step.decision.record, tailCalls: tail.decisions } : step.decision.record;
        const isNews = repeatable || tail.decisions !== undefined;
        this.#keep(resultInput(request, tail.result, isNews ? record : undefined, outcome.interim));
      } catch (error) {
        frame.warn(`running ${request.name} failed`, error);
        this.#keep(resultInput(request, errorResult('failed', messageOf(error)), undefined));
      } finally {
        this.#controller.signal.removeEventListener('abort', stop);
        this.#running.delete(callId);
        this.wake();
      }
    });
  }

  /** Its result was made here and is still wanted. */
  #keeps(open: readonly PendingRequest[], callId: string): boolean {
    if (isOpen(open, callId)) return this.#unstored.has(callId);
    this.#unstored.delete(callId);
    return false;
  }

  #keep(result: ToolResultInput): void {
    this.#ready.push(result);
    this.#unstored.add(result.requestId);
  }

  #toolOptions(request: PendingRequest) {
    const { options, warn } = this.#session.frame;
    return {
      deps: this.#options.deps ?? options.deps,
      hooks: options.hooks,
      timeoutMs: options.toolTimeoutMs ?? DEFAULT_TOOL_TIMEOUT_MS,
      maxResultBytes: options.maxResultBytes,
      spill: options.spill,
      warn,
      progress: (update: ToolUpdate) => this.#progress(request, update),
    };
  }

  #progress(request: PendingRequest, update: ToolUpdate): void {
    if (this.#controller.signal.aborted || !this.#accepted) return;
    this.#out.push({
      ...update,
      ...this.#base(request),
      type: 'tool_update',
      requestId: request.callId ?? request.requestId,
    });
  }

  #base(request: PendingRequest) {
    const agentId = request.agentPath.at(-1);
    return {
      id: crypto.randomUUID(),
      timestamp: isoTime(),
      sessionId: this.#session.id,
      streamId: this.#options.streamId,
      turnId: request.turnId,
      source: 'host' as const,
      ...(agentId === undefined ? {} : { agentId }),
      ...(request.threadId === undefined ? {} : { threadId: request.threadId }),
    };
  }

  /** Shows a question once in a stream and hands it to whoever answers questions here. */
  #ask(question: ApprovalQuestion): void {
    this.show(question);
    if (!this.#asked.has(question.requestId)) this.#handle(question, this.#session.frame.options.onApproval);
  }

  /**
   * A question is being answered: whoever reads the stream has seen it before, however fast that comes, or never.
   * Returns what to do when the answer is not taken.
   */
  answering(question: ApprovalQuestion): () => void {
    const { requestId } = question;
    this.show(question);
    if (this.#shownQuestions.has(requestId)) return () => {};
    this.#shownQuestions.add(requestId);
    return () => this.#shownQuestions.delete(requestId);
  }

  show(question: ApprovalQuestion): void {
    if (!this.#accepted || this.#shownQuestions.has(question.requestId)) return;
    this.#shownQuestions.add(question.requestId);
    const { approval, elicitation, message, expiresAt, context, callId } = question;
    this.#out.push({
      ...this.#base(question),
      type: 'elicitation_request',
      requestId: question.requestId,
      kind: elicitation ?? 'tool_confirmation',
      message: message ?? approval.title,
      title: approval.title,
      approval,
      ...(callId === undefined ? {} : { callId }),
      ...(context ? { context } : {}),
      ...(expiresAt === undefined ? {} : { expiresAt }),
    });
    this.#session.frame.announce(question);
  }

  #elicit(request: PendingRequest): void {
    if (this.#asked.has(request.requestId)) return;
    this.#handle(request, this.#session.frame.options.onElicitation);
  }

  #handle<R extends PendingRequest>(
    request: R,
    handler: ((request: R, context: { signal: AbortSignal }) => unknown) | undefined,
  ): void {
    this.#asked.set(request.requestId, handler !== undefined);
    if (!handler) return;
    const answering = async () => {
      try {
        const answer = (await handler(request, { signal: this.#controller.signal })) as RequestAnswer | undefined;
        if (answer && !this.#controller.signal.aborted) await this.#respond(request.requestId, answer);
      } catch (error) {
        if (isCoxswainError(error) && closedByOthers.has(error.code)) return;
        this.#session.frame.warn(`the answer to ${request.requestId} was not taken; it stays open`, error);
      } finally {
        this.#asked.set(request.requestId, false);
        this.wake();
      }
    };
    void answering();
  }

  /** Somebody thinks about one of them. */
  #isAsking(questions: readonly PendingRequest[]): boolean {
    return questions.some(({ requestId }) => this.#asked.get(requestId) === true);
  }

  /** The first of these to run out of time wakes the run. */
  #watchExpiry(questions: readonly PendingRequest[]): void {
    clearTimeout(this.#expiry);
    const times = questions.flatMap(({ expiresAt }) => (expiresAt === undefined ? [] : [Date.parse(expiresAt)]));
    if (times.length === 0) return;
    const left = Math.max(0, Math.min(...times) - Date.now()) + 1;
    this.#expiry = setTimeout(() => this.wake(), Math.min(left, MAX_TIMER_MS));
    this.#expiry.unref?.();
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
  async #shown(end: StreamEndEvent): Promise<StreamEndEvent> {
    const open = end.data.pending ?? [];
    const isStored = end.seq !== undefined;
    // After a fatal error nothing is shown but the end: `pending()` has the questions.
    if (!isStored || open.length === 0 || end.data.transfer || end.reason === 'failed') return end;
    const pending = await this.#session.pending();
    for (const request of pending) if (isQuestion(request)) this.show(request);
    return { ...end, data: { ...end.data, pending } };
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

  async #startClock(inputs: readonly SessionInput[]): Promise<BusyClock | undefined> {
    const { frame } = this.#session;
    const excluded = await frame.excluded();
    if (excluded.length > 0) this.#excluded = excluded;
    const goesOn = !inputs.some((input) => input.kind === 'message');
    if (this.#limits.usd !== undefined && goesOn) {
      for await (const event of this.#turnEvents()) this.#budget.see(event);
    }
    const { minutes } = this.#limits;
    if (minutes === undefined) return undefined;
    const error = () =>
      new CoxswainError(
        'RESOURCE_EXHAUSTED',
        'E_MAX_TIME',
        `the stream has used its ${minutes} minutes; continue to go on`,
      );
    return new BusyClock(minutes * 60_000, 0, () => this.abort(error()));
  }

  /** What the present turn has cost before this stream; one that is opened again starts afresh. */
  async *#turnEvents(): AsyncIterable<AgentEvent> {
    let turn: AgentEvent[] = [];
    for await (const event of this.#session.inner.events()) {
      const isMessage = event.type === 'message' && event.role === 'user' && event._meta?.steer !== true;
      if (event.type === 'stream_end' || isMessage) turn = [];
      if (event.type === 'usage') turn.push(event);
    }
    yield* turn;
  }

  /** The on_user_message hook may replace what a person said. */
  async #userMessage(inputs: SessionInput[]): Promise<SessionInput[]> {
    const { hooks } = this.#session.frame.options;
    if (!supports(hooks, 'on_user_message')) return inputs;
    return Promise.all(
      inputs.map(async (input) => {
        if (input.kind !== 'message') return input;
        const parts =
          typeof input.content === 'string' ? [{ type: 'text' as const, text: input.content }] : input.content;
        const context = { sessionId: this.#session.id, agentPath: [this.#session.descriptor.name] };
        const payload = { userMessage: { role: 'user', parts }, context };
        const answer = await failClosed('on_user_message', () => hooks?.fire('on_user_message', payload));
        if (answer?.action === 'block') {
          throw new CoxswainError('PERMISSION_DENIED', 'E_HOOK_BLOCKED', answer.reason ?? 'a hook refused the message');
        }
        const replacement = answer?.modifications?.replacement as { parts?: typeof parts } | undefined;
        return replacement?.parts ? { ...input, content: replacement.parts } : input;
      }),
    );
  }
}

/** A hook that must not be skipped by failing. */
async function failClosed<T>(point: string, hook: () => T | Promise<T>): Promise<T> {
  try {
    return await hook();
  } catch (error) {
    if (isCoxswainError(error)) throw error;
    const message = `an ${point} hook failed: ${messageOf(error)}`;
    throw new CoxswainError('INTERNAL', 'E_HOOK_FAILED', message, { cause: error });
  }
}

const closedByOthers = new Set(['E_REQUEST_CLOSED', 'E_UNKNOWN_REQUEST', 'E_SESSION_CLOSED']);

/** The call's turn is over, and somebody has answered what the host asked about it. */
export function hasOutlived({ detached, answers }: PendingRequest): boolean {
  return detached === true && (answers ?? []).some(({ quorum }) => !quorum);
}

function isQuestion(request: PendingRequest): request is ApprovalQuestion {
  return request.approval !== undefined;
}

/** The turn has ended. */
function isOver(end: StreamEndEvent): boolean {
  return end.reason !== 'input_required' && end.data.transfer === undefined;
}

function isOpen(open: readonly PendingRequest[], callId: string | undefined): boolean {
  return open.some((request) => request.callId === callId);
}

function resultInput(
  request: PendingRequest,
  result: ToolResult,
  decision: RunStep['decision']['record'] | undefined,
  interim = false,
): ToolResultInput {
  return {
    kind: 'tool_result',
    requestId: request.callId ?? request.requestId,
    result,
    ...(decision ? { decision } : {}),
    ...(interim ? { interim: true } : {}),
  };
}

function asAbort(reason: unknown): CoxswainError {
  if (isCoxswainError(reason)) return reason;
  return new CoxswainError('ABORTED', 'E_ABORTED', reason === undefined ? 'aborted' : messageOf(reason));
}
