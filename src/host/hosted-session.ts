import { setTimeout as sleep } from 'node:timers/promises';
import type {
  AbortTarget,
  AgentDescriptor,
  AgentEvent,
  AgentSession,
  AgentStream,
  AnyTool,
  ExecutionOptions,
  PendingRequest,
  PermissionMode,
  Principal,
  RequestAnswer,
  SessionInput,
  SessionStanding,
  SessionUpdate,
  Settlement,
  SteerData,
  StreamEndEvent,
  TelemetrySpan,
  ToolDescriptor,
} from '../contracts/index.ts';
import { CoxswainError, isCoxswainError } from '../contracts/index.ts';
import { describeTool } from '../gate/index.ts';
import type { Heeded } from '../session/index.ts';
import {
  checkAbort,
  checkAnswer,
  checkEvents,
  checkExecution,
  checkRequestId,
  checkSteer,
  EventStream,
  heed,
  isHeedful,
  isPipeable,
  joined,
  LazySet,
  newId,
  normaliseInput,
  SessionTrace,
  streamIdOf,
} from '../session/index.ts';
import { abortPart } from './abort-part.ts';
import type { Ruling } from './answer-checks.ts';
import { AnswerChecks, withoutStart } from './answer-checks.ts';
import { answerRequest } from './answer-request.ts';
import { settleExpired } from './expiry.ts';
import type { HostedFrame } from './hosted-frame.ts';
import { HostedRun } from './hosted-run.ts';
import { callsToJoin } from './joining.ts';
import type { Judge } from './judge.ts';
import { noSubagents } from './no-subagents.ts';
import { questionOf } from './open-request.ts';
import { isTighter, stricterMode } from './permission-mode.ts';
import { callIdOf } from './question-id.ts';
import { closedEnd, failedEnd, shownEnd } from './run-end.ts';
import { hasOutlived } from './run-inputs.ts';
import { Subagents } from './subagents.ts';
import { takeAnswers } from './take-answers.ts';
import { beginTurn, goOnWithTurn } from './turn-terms.ts';
import { passSteer } from './user-message.ts';

/** Milliseconds until a session that another process runs is tried again. */
const OUTLIVED_MS = 1000;

/** A stream that looks up what its turn is held to. */
interface Beginning {
  /** Why it is ended as soon as it has begun. */
  reason: CoxswainError | undefined;
  /** Undefined: it was refused. */
  readonly begun: Promise<HostedRun | undefined>;
}

/**
 * A session under the host's control: the same interface as the executor's own. Inner streams run one after the
 * other; each open request of one goes through the gate, and the caller sees one stream.
 */
export class HostedSession implements AgentSession, Ruling {
  readonly inner: AgentSession;
  readonly frame: HostedFrame;
  readonly subagents: Pick<Subagents, keyof Subagents>;
  /** Whose `initialize` this handle has shown. */
  introducedBy: 'agent' | 'host' | undefined;
  #madeChecks: AnswerChecks | undefined;
  #run: HostedRun | undefined;
  readonly #beginnings = new LazySet<Beginning>();
  #trace: SessionTrace | undefined;
  #closed = false;

  constructor(inner: AgentSession, frame: HostedFrame) {
    this.inner = inner;
    this.frame = frame;
    frame.session = this;
    this.subagents = frame.hasSubagents ? new Subagents(this) : noSubagents;
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

  async respond(requestId: string, given: RequestAnswer): Promise<Settlement> {
    this.#assertOpen();
    checkRequestId(requestId);
    const answer = withoutStart(checkAnswer(given));
    const settlement = await answerRequest(this, requestId, answer);
    this.frame.wakeAll();
    return settlement;
  }

  async steer(data: SteerData): Promise<{ steerId: string; disposition: 'current_turn' | 'next_turn' }> {
    checkSteer(data);
    return (await this.subagents.steer(data)) ?? this.inner.steer(await passSteer(this, data));
  }

  async update(config: SessionUpdate): Promise<{ effective: 'next_step' }> {
    const result = await this.inner.update(config);
    if (config.permissionMode !== undefined) {
      this.frame.ownMode = isPipeable(this.inner) ? undefined : (config.permissionMode ?? undefined);
    }
    return result;
  }

  /**
   * Somebody opens the session, or joins it where it is open: the roles that they have now count, and a stricter mode
   * is kept with the session and holds for everybody. Only an update loosens it.
   */
  async admit(who: Principal | undefined, mode: PermissionMode | undefined): Promise<void> {
    const { frame, inner } = this;
    if (who) frame.shared.present.set(who.id, who);
    if (!isPipeable(inner)) frame.ownMode ??= (await inner.standing?.())?.permissionMode;
    if (mode === undefined) return;
    const kept = isPipeable(inner) ? inner.permissionMode : frame.ownMode;
    const stricter = stricterMode(kept, mode);
    if (stricter === kept) return;
    if (inner.standing && isTighter(stricter, frame.options.permissionMode)) {
      await this.update({ permissionMode: mode });
    } else frame.ownMode = stricterMode(frame.ownMode, mode);
  }

  async abort(target: AbortTarget = {}): Promise<void> {
    checkAbort(target);
    const ended = target.threadId === undefined ? undefined : await this.subagents.callOfThread(target.threadId);
    // A sub-agent ends with its call.
    if (ended !== undefined) {
      return this.abort({ requestId: ended, ...(target.reason === undefined ? {} : { reason: target.reason }) });
    }
    const isWhole = target.threadId === undefined && target.requestId === undefined;
    const whole = new CoxswainError('ABORTED', 'E_ABORTED', target.reason ?? 'aborted');
    if (isWhole && !this.liveRun && (await this.#abortBeginnings(whole))) return;
    const run = this.liveRun;
    if (target.requestId !== undefined && run?.abortCall(callIdOf(target.requestId), target.reason)) return;
    if (run && isWhole) {
      run.abort(whole);
      await run.ended;
      return;
    }
    await abortPart(this, run, target);
  }

  events(options: { after?: string; limit?: number; live?: boolean } = {}): AsyncIterable<AgentEvent> {
    checkEvents(options);
    return this.inner.events(options);
  }

  /**
   * `events()`, and after each call of a sub-agent what it did, on its thread. Those events are of other logs: they have
   * no cursor here.
   */
  async *history(): AsyncIterableIterator<AgentEvent> {
    for await (const event of this.events()) {
      yield event;
      if (event.type === 'tool_request' && this.frame.hasSubagents) yield* this.subagents.history(event);
    }
  }

  async pending(): Promise<PendingRequest[]> {
    const shown = (await this.inner.pending()).map(
      async (request) => (await this.subagents.openBelow(request)) ?? (await questionOf(this, request)) ?? request,
    );
    return [...(await Promise.all(shown)).flat(), ...this.frame.runTimeQuestions.of(this.frame.name)];
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
    await this.subagents.dispose();
    this.frame.closed();
    this.#trace?.end();
    await this.inner[Symbol.asyncDispose]();
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /**
   * Goes on after an answer, whoever watches. A live run has seen it, unless it was just about to pause; one of another
   * process looks again after it has let go of the session, so that a refusal means that somebody goes on.
   * @throws CoxswainError `ABORTED / E_SESSION_BUSY` while another process runs the session
   */
  async resume(): Promise<void> {
    for (;;) {
      const reason = await this.liveRun?.ended;
      const goesOn =
        reason === undefined || reason === 'input_required' || (await this.inner.pending()).some(hasOutlived);
      if (!goesOn) return;
      try {
        const { show } = this.frame.shared;
        if (show) await show({ kind: 'continue' });
        else for await (const _ of this.stream({ kind: 'continue' }, { streaming: false }));
        return;
      } catch (error) {
        const isBusy = isCoxswainError(error) && error.code === 'E_SESSION_BUSY';
        // A turn does not look at what has outlived the one before it.
        if (!isBusy || this.frame.running() || !(await this.inner.pending()).some(hasOutlived)) throw error;
        await sleep(OUTLIVED_MS, undefined, { ref: false });
      }
    }
  }

  /** Something may have been answered elsewhere. */
  wake(): void {
    this.#run?.wake();
  }

  /** Streams that nobody reads go through `show` until the returned function is called: it lets watchers see them. */
  shownBy(show: (input: SessionInput) => Promise<void>): () => void {
    const { shared } = this.frame;
    shared.show = show;
    return () => {
      if (shared.show === show) shared.show = undefined;
    };
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
    if (options.whilePending === 'hold' && inputs.some(({ kind }) => kind === 'message')) await settleExpired(this);
    const run = await this.#begin(out, inputs, options, streamId);
    const deaf = isHeedful(this.inner) ? this.inner[heed]((heard) => this.#heed(run, heard)) : undefined;
    let end: StreamEndEvent;
    try {
      await run.hold.take();
      await run.open(await takeAnswers(this, inputs));
      try {
        end = await shownEnd(run, await run.toEnd());
      } catch (error) {
        end = await failedEnd(run, error);
      }
      end = await closedEnd(run, end);
    } finally {
      deaf?.();
      await run.hold.letGo();
      this.#run = undefined;
      run.over();
    }
    // Whoever sees it may go on at once.
    out.push(end);
  }

  /** Another process has answered something, or wants an end of what runs here. */
  #heed(run: HostedRun, { abort }: Heeded): void {
    if (!abort) run.wake();
    else this.abort(abort).catch((error: unknown) => this.frame.warn(`session ${this.id} could not be aborted`, error));
  }

  /** A stream begins, held to its turn's terms. One at a time. */
  async #begin(
    out: EventStream,
    inputs: readonly SessionInput[],
    options: ExecutionOptions,
    streamId: string,
  ): Promise<HostedRun> {
    const { frame } = this;
    // A sub-agent is told whose turn it is a part of, which says nothing of the roles of now.
    if (options.principal && frame.depth === 0) frame.shared.present.set(options.principal.id, options.principal);
    const who = options.principal ?? frame.shared.present.get(frame.principal.id) ?? frame.principal;
    const joins = callsToJoin(this, inputs);
    const calls = joins && (await joins);
    if (inputs.some(({ kind }) => kind === 'message') && !calls?.length) {
      return this.#start(out, beginTurn(options, who, frame.options.permissionMode), options, streamId);
    }
    const { promise: begun, resolve } = Promise.withResolvers<HostedRun | undefined>();
    const beginning: Beginning = { reason: undefined, begun };
    this.#beginnings.add(beginning);
    let run: HostedRun | undefined;
    try {
      const standing = await this.standing();
      const given = calls?.length ? { ...options, [joined]: calls } : options;
      const terms = goOnWithTurn(standing, given, who, frame.options.permissionMode);
      this.#assertOpen();
      run = this.#start(out, terms, options, streamId, standing.traceContext);
      if (beginning.reason) run.abort(beginning.reason);
      return run;
    } finally {
      this.#beginnings.delete(beginning);
      resolve(run);
    }
  }

  #start(
    out: EventStream,
    terms: ReturnType<typeof beginTurn>,
    options: ExecutionOptions,
    streamId: string,
    begun?: Record<string, string>,
  ): HostedRun {
    const { frame } = this;
    if (this.#run || frame.running()) {
      const message = `session ${this.id} has a live stream; wait for its end or abort it`;
      throw new CoxswainError('ABORTED', 'E_SESSION_BUSY', message, { retryable: true });
    }
    const tools = offered(frame, terms.options.tools);
    const held = { ...terms.options, tools, streamId };
    this.#run = new HostedRun(this, out, held, terms.news, this.#turnSpan(options, begun));
    return this.#run;
  }

  /** Ends the streams that are about to begin, on whichever handle; false: there is none. */
  async #abortBeginnings(reason: CoxswainError): Promise<boolean> {
    const begun: Promise<HostedRun | undefined>[] = [];
    for (const handle of this.frame.shared.handles) {
      for (const beginning of handle.#beginnings) {
        beginning.reason ??= reason;
        begun.push(beginning.begun);
      }
    }
    const runs = await Promise.all(begun);
    await Promise.all(runs.map((run) => run?.ended));
    return runs.some((run) => run !== undefined);
  }

  #turnSpan({ traceContext }: ExecutionOptions, begun?: Record<string, string>): TelemetrySpan | undefined {
    const { telemetry } = this.frame.options;
    if (!telemetry) return undefined;
    this.#trace ??= new SessionTrace(telemetry, this.id, this.descriptor.name);
    return this.#trace.turn(traceContext && telemetry.extract?.(traceContext), begun);
  }

  /** Whoever runs the session in this host: one of its handles, or this one if it is idle. */
  get #owner(): HostedSession {
    return this.#run ? this : (this.frame.running() ?? this);
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

/**
 * The host's tools and those of one stream's caller.
 * @throws CoxswainError `INVALID_ARGUMENT / E_DUPLICATE_TOOL | E_SCHEMA`
 */
function offered(frame: HostedFrame, added: readonly ToolDescriptor[] | undefined): readonly ToolDescriptor[] {
  if (!added) return frame.descriptors;
  const names = new Set(frame.tools.keys());
  const described = added.map((tool) => describeTool(tool as AnyTool));
  for (const { name } of described) {
    if (names.has(name)) throw new CoxswainError('INVALID_ARGUMENT', 'E_DUPLICATE_TOOL', `two tools are named ${name}`);
    names.add(name);
  }
  return [...frame.descriptors, ...described];
}
