import type {
  AbortTarget,
  AgentDescriptor,
  AgentErrorEvent,
  AgentEvent,
  AgentStream,
  Compaction,
  EventsOptions,
  ExecutionOptions,
  ExecutorSession,
  GivenAnswer,
  OpenRequest,
  PermissionMode,
  Principal,
  RequestAnswer,
  Session,
  SessionInput,
  SessionStanding,
  SessionUpdate,
  Settlement,
  SteerData,
  StreamEndEvent,
  TelemetrySpan,
} from '../../contracts/index.ts';
import { CoxswainError, callIdOf, openRequestOf } from '../../contracts/index.ts';
import type { Heeded, JoiningOptions, LogEnd } from '../../session/index.ts';
import {
  begins,
  checkAbort,
  checkAnswer,
  checkEvents,
  checkExecution,
  checkIs,
  checkRequestId,
  compactIn,
  EventStream,
  fromEnd,
  guarded,
  heed,
  isHeedful,
  isPipeable,
  isTextual,
  knowsEnd,
  nameOfPrincipal,
  newId,
  normaliseInput,
  partialTexts,
  SessionTrace,
  sessionTitle,
  streamIdOf,
} from '../../session/index.ts';
import { withoutHostFacts } from '../../session/link/index.ts';
import type { CalledAgents, HostedFrame } from '../frame/index.ts';
import type { Judge } from '../questions/index.ts';
import { callsOf } from '../questions/index.ts';
import { closedEnd, failedEnd, HostedRun, shownEnd } from '../run/index.ts';
import { closedRequest, Subagents } from '../subagents/index.ts';
import { isTighter, stricterMode } from '../terms/index.ts';
import { abortPart } from './abort-part.ts';
import type { Ruling } from './answer-checks.ts';
import { AnswerChecks } from './answer-checks.ts';
import { answerHostedRequest, checkRequestAnswer } from './answer-request.ts';
import type { StartRun } from './beginnings.ts';
import { abortBeginnings, Beginnings } from './beginnings.ts';
import { assertCallers } from './callers-own.ts';
import type { ControlledSession } from './controlled-session.ts';
import { settleExpired } from './expiry.ts';
import { resume } from './going-on.ts';
import { answeredCalls } from './joining.ts';
import { offeredTools } from './offered-tools.ts';
import { asShown } from './open-request.ts';
import { steerTurn } from './others-turn.ts';
import { takeAnswers } from './take-answers.ts';

/**
 * A session under the host's control: the same interface as the executor's own. Inner streams run one after the
 * other; each open request of one goes through the gate, and the caller sees one stream.
 */
export class HostedSession implements Session, ControlledSession, Ruling {
  readonly inner: ExecutorSession;
  readonly frame: HostedFrame;
  readonly subagents: CalledAgents | undefined;
  /** Whose `initialize` this handle has shown. */
  introducedBy: 'agent' | 'host' | undefined;
  #madeChecks: AnswerChecks | undefined;
  #run: HostedRun | undefined;
  /** Who was named when the stream was begun that is live. */
  #speaker: Principal | undefined;
  readonly beginnings = new Beginnings(this);
  /** Makes room for another turn of the host. */
  #leaveHost: (() => void) | undefined;
  #trace: SessionTrace | undefined;
  #closed = false;

  constructor(inner: ExecutorSession, frame: HostedFrame) {
    this.inner = inner;
    this.frame = frame;
    frame.session = this;
    this.subagents = frame.hasSubagents ? new Subagents(this) : undefined;
  }

  get id(): string {
    return this.inner.id;
  }

  get descriptor(): AgentDescriptor {
    return this.inner.descriptor;
  }

  get judge(): Judge {
    return this.#owner.frame.judge;
  }

  isBusy(callId: string | undefined): boolean {
    return this.liveRun?.isBusy(callId) ?? false;
  }

  /** What judges an answer before it is stored; made when there is one. */
  get answerChecks(): AnswerChecks {
    this.#madeChecks ??= new AnswerChecks(this.inner, this.frame, this);
    return this.#madeChecks;
  }

  /** What runs the session in this host, on whichever of its handles. */
  get liveRun(): HostedRun | undefined {
    return this.#owner.#run;
  }

  /** A stream is live on this handle. */
  get running(): boolean {
    return this.#run !== undefined;
  }

  stream(input: string | SessionInput | readonly SessionInput[], options: ExecutionOptions = {}): AgentStream {
    const streamId = streamIdOf(options, newId);
    return new EventStream(
      streamId,
      (out) => this.#drive(out, input, options, streamId),
      (reason) => this.abort(reason === undefined ? {} : { reason }),
    );
  }

  async respond(requestId: string, given: GivenAnswer): Promise<Settlement> {
    this.#assertOpen();
    checkRequestId(requestId);
    const answer: RequestAnswer = withoutHostFacts(checkAnswer(given));
    await assertCallers(this);
    const settlement = await answerHostedRequest(this, requestId, answer);
    this.frame.wakeAll();
    this.frame.answered(requestId);
    return settlement;
  }

  async checkResponse(requestId: string, answer: RequestAnswer): Promise<void> {
    await checkRequestAnswer(this, requestId, answer);
  }

  steer(data: SteerData): ReturnType<Session['steer']> {
    return this.steerBy(data, (this.#run && this.#speaker) ?? this.frame.principal);
  }

  /** Adds what this person says to the turn, which has to be theirs. */
  async steerBy(data: SteerData, who: Principal): ReturnType<Session['steer']> {
    await assertCallers(this);
    return steerTurn(this, data, who);
  }

  async update(config: SessionUpdate): Promise<{ effective: 'next_step' }> {
    await assertCallers(this);
    return this.#update(config);
  }

  async #update(config: SessionUpdate): Promise<{ effective: 'next_step' }> {
    // What else is wrong with it, its executor says.
    const title = guarded('update', () => config?.title);
    if (typeof title === 'string') checkIs(title, 'update.title', sessionTitle);
    const result = await this.inner.update(config);
    if (config.permissionMode !== undefined) {
      this.frame.ownMode = isPipeable(this.inner) ? undefined : (config.permissionMode ?? undefined);
    }
    return result;
  }

  async compact(): Promise<Compaction> {
    this.#assertOpen();
    if (this.liveRun) {
      const message = `session ${this.id} has a live stream; compact it when that has ended`;
      throw new CoxswainError('ABORTED', 'E_SESSION_BUSY', message);
    }
    return compactIn(this.inner);
  }

  /**
   * Somebody opens the session, or joins it where it is open: the roles that they have now count, and a stricter mode
   * is kept with the session and holds for everybody. Only an update loosens it.
   */
  async admit(who: Principal | undefined, mode: PermissionMode | undefined): Promise<void> {
    const { frame, inner } = this;
    if (who) frame.shared.present.set(nameOfPrincipal(who), who);
    if (!isPipeable(inner)) frame.ownMode ??= (await inner.standing?.())?.permissionMode;
    if (mode === undefined) return;
    const kept = isPipeable(inner) ? inner.permissionMode : frame.ownMode;
    const stricter = stricterMode(kept, mode);
    if (stricter === kept) return;
    if (inner.standing && isTighter(stricter, frame.options.permissionMode)) {
      await this.#update({ permissionMode: mode });
    } else frame.ownMode = stricterMode(frame.ownMode, mode);
  }

  async abort(target: AbortTarget = {}): Promise<void> {
    checkAbort(target);
    const looking = assertCallers(this);
    if (looking) await looking;
    const ended = target.threadId === undefined ? undefined : await this.#callOfThread(target.threadId);
    // A sub-agent ends with its call.
    if (ended !== undefined) {
      return this.abort({ requestId: ended, ...(target.reason === undefined ? {} : { reason: target.reason }) });
    }
    const isWhole = target.threadId === undefined && target.requestId === undefined;
    const whole = new CoxswainError('ABORTED', 'E_ABORTED', target.reason ?? 'aborted');
    if (isWhole && !this.liveRun && (await abortBeginnings(this.frame.shared.handles, whole))) return;
    const run = this.liveRun;
    if (target.requestId !== undefined && run?.abortCall(callIdOf(target.requestId), target.reason)) return;
    if (run && isWhole) {
      run.abort(whole);
      await run.ended;
      return;
    }
    await abortPart(this, run, target);
  }

  events(options: EventsOptions = {}): AsyncIterable<AgentEvent> {
    checkEvents(options);
    return this.inner.events(options);
  }

  async [fromEnd](): Promise<LogEnd | undefined> {
    return knowsEnd(this.inner) ? this.inner[fromEnd]() : undefined;
  }

  /**
   * `events()`, and after each call of a sub-agent what it did, on its thread. Those events are of other logs: they have
   * no cursor here.
   */
  async *history(): AsyncIterableIterator<AgentEvent> {
    for await (const event of this.events()) {
      yield event;
      if (event.type !== 'tool_request' || !this.subagents) continue;
      const called = this.subagents.of(closedRequest(event));
      if (called) yield* called.history(event.streamId);
    }
  }

  answeredCalls(): Promise<string[]> {
    return answeredCalls(this, []);
  }

  async pending(): Promise<OpenRequest[]> {
    const stored = await this.inner.pending();
    const shown = stored.map(async (request) => (await this.subagents?.of(request)?.open()) ?? asShown(this, request));
    const asked = this.frame.runTimeQuestions.of(this.frame.name);
    const calls = asked.length > 0 ? callsOf(stored) : undefined;
    // A run of a session that was deleted may still wait: nobody is asked that in the one that has its id now.
    const ofRuns = asked.filter(({ callId }) => calls?.has(callId));
    const open = [...(await Promise.all(shown)).flat(), ...ofRuns];
    return open.map((request) => openRequestOf(request));
  }

  async standing(): Promise<SessionStanding> {
    const known = await this.inner.standing?.();
    const terms = known?.terms ?? this.frame.shared.begun;
    return { isOver: false, ...known, ...(terms ? { terms } : {}) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#run?.abort(new CoxswainError('ABORTED', 'E_ABORTED', 'the session was closed'));
    await this.#run?.ended;
    await this.subagents?.dispose();
    this.frame.closed();
    this.#trace?.end();
    await this.inner[Symbol.asyncDispose]();
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /**
   * Goes on after an answer, whoever watches: see `goOn`.
   * @throws CoxswainError `ABORTED / E_SESSION_BUSY` while another process runs the session
   */
  resume(): Promise<void> {
    return resume(this);
  }

  /**
   * The stream that runs on this handle stops where nothing of it runs, and leaves its turn to whoever goes on with it.
   * Resolves when the session is given back: whether there is something to go on with.
   */
  async leave(): Promise<boolean> {
    const run = this.#run;
    if (!run) return false;
    run.isLeaving = true;
    run.wake();
    return (await run.ended) === 'input_required';
  }

  /** Something may have been answered elsewhere. */
  wake(): void {
    this.#run?.wake();
  }

  /** Shows partial messages of another program's run, until the returned function is called; undefined: nobody tells. */
  partialTexts(show: (event: AgentEvent) => void): (() => void) | undefined {
    return isTextual(this.inner) ? this.inner[partialTexts](show) : undefined;
  }

  /** Streams that nobody reads go through `show` until the returned function is called: it lets watchers see them. */
  shownBy(show: (input: SessionInput) => Promise<void>): () => void {
    const { shared } = this.frame;
    shared.show = show;
    return () => {
      if (shared.show === show) shared.show = undefined;
    };
  }

  /** The open call whose sub-agent has this thread for its own words. */
  async #callOfThread(threadId: string): Promise<string | undefined> {
    if (!this.subagents) return undefined;
    for (const request of await this.inner.pending()) {
      if (this.subagents.of(request)?.threadId === threadId) return request.callId ?? request.requestId;
    }
    return undefined;
  }

  async #drive(
    out: EventStream,
    input: string | SessionInput | readonly SessionInput[],
    options: ExecutionOptions,
    streamId: string,
  ): Promise<void> {
    this.#assertOpen();
    const inputs = normaliseInput(input);
    checkExecution(options);
    const looking = assertCallers(this);
    if (looking) await looking;
    if (options.whilePending === 'hold' && inputs.some(({ kind }) => kind === 'message')) await settleExpired(this);
    if (
      this.frame.depth === 0 &&
      !(options as JoiningOptions)[begins] &&
      inputs.some(({ kind }) => kind === 'message')
    ) {
      this.frame.entrance.admit();
    }
    const run = await this.beginnings.begin(inputs, options, (terms, begun) =>
      this.#start(out, terms, options, streamId, begun),
    );
    const deaf = isHeedful(this.inner) ? this.inner[heed]((heard) => this.#heed(run, heard)) : undefined;
    let end: StreamEndEvent;
    let lost: AgentErrorEvent | undefined;
    try {
      await run.hold.take(run.holdOptions(inputs));
      await run.open(await takeAnswers(this, inputs));
      for (const input of inputs) if ('requestId' in input) this.frame.answered(input.requestId);
      try {
        end = await shownEnd(run, await run.toEnd());
      } catch (error) {
        end = await failedEnd(run, error);
      }
      // A turn that cannot say so in the log is open there.
      if (end.reason === 'failed' && end.seq === undefined) lost = out.fatal;
      end = await closedEnd(run, end);
    } finally {
      deaf?.();
      await run.hold.letGo();
      this.frame.shared.lost = lost;
      this.#run = undefined;
      this.#leaveHost?.();
      run.over();
      if (!(options as JoiningOptions)[begins]) this.frame.rested();
    }
    // Whoever sees it may go on at once.
    out.push(end);
  }

  /** Another process has answered something, or wants an end of what runs here. */
  #heed(run: HostedRun, { abort }: Heeded): void {
    if (!abort) run.wake();
    else this.abort(abort).catch((error: unknown) => this.frame.warn(`session ${this.id} could not be aborted`, error));
  }

  /** One stream at a time. */
  #start(
    out: EventStream,
    terms: Parameters<StartRun>[0],
    options: ExecutionOptions,
    streamId: string,
    begun?: Record<string, string>,
  ): HostedRun {
    const { frame } = this;
    this.#assertOpen();
    if (this.#run || frame.running()) {
      const message = `session ${this.id} has a live stream; wait for its end or abort it`;
      throw new CoxswainError('ABORTED', 'E_SESSION_BUSY', message);
    }
    const tools = offeredTools(frame, terms.options.tools);
    const held = { ...terms.options, tools, streamId };
    this.#speaker = options.principal;
    if (frame.depth === 0) this.#leaveHost = frame.entrance.enter();
    this.#run = new HostedRun(this, out, held, terms, this.#turnSpan(options, begun));
    return this.#run;
  }

  #turnSpan({ traceContext }: ExecutionOptions, begun?: Record<string, string>): TelemetrySpan | undefined {
    const { telemetry } = this.frame.options;
    if (!telemetry) return undefined;
    this.#trace ??= new SessionTrace(telemetry, this.id, this.descriptor.name);
    return this.#trace.turn(traceContext && telemetry.extract?.(traceContext), begun);
  }

  /** Whoever runs the session in this host: one of its handles, or this one if it is idle. */
  get #owner(): HostedSession {
    const other = this.#run ? undefined : this.frame.running();
    return other instanceof HostedSession ? other : this;
  }

  #assertOpen(): void {
    if (this.#closed) {
      throw new CoxswainError(
        'FAILED_PRECONDITION',
        'E_SESSION_CLOSED',
        `session ${this.id} was closed; open it again`,
      );
    }
  }
}
