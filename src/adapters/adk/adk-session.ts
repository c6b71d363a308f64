import { isoTime, LazySet, newId } from '../../base/index.ts';
import type {
  AbortTarget,
  AgentDescriptor,
  AgentEvent,
  AgentSession,
  AgentStream,
  ExecutionOptions,
  PendingRequest,
  PermissionMode,
  PutQuestion,
  RequestAnswer,
  SessionInput,
  SessionStanding,
  SessionUpdate,
  Settlement,
  SteerData,
  StreamEndEvent,
  TelemetrySpan,
  ToolApprovalInput,
} from '../../contracts/index.ts';
import { CoxswainError, copyJson, INTERFACE_VERSION } from '../../contracts/index.ts';
import type {
  AgentTree,
  CurrentRun,
  Engine,
  FollowOptions,
  InvocationResult,
  LiveSession,
} from '../../runtime/index.ts';
import { unheardCalls } from '../../runtime/index.ts';
import type { AbortCall } from '../../runtime/session/index.ts';
import {
  abortSession,
  answerRequest,
  heedLog,
  makeRequests,
  openRequestNow,
  openRequests,
  openRequestsNow,
  standingOf,
  startRun,
  storeConfig,
  storeQuestions,
  storeStarts,
  storeSteer,
} from '../../runtime/session/index.ts';
import type { Heeded, HoldOptions, Stirred, StreamQueue } from '../../session/index.ts';
import {
  answeredNow,
  checkAbort,
  checkAnswer,
  checkContent,
  checkEvents,
  checkExecution,
  checkRequestId,
  checkSteer,
  claimOwn,
  EventStream,
  endTurn,
  heed,
  hold,
  normaliseInput,
  openNow,
  pipe,
  putQuestions,
  SessionTrace,
  startCalls,
  stirs,
  streamIdOf,
} from '../../session/index.ts';
import { project } from './project.ts';
import { readEvents } from './read-events.ts';
import { StreamSink } from './sink.ts';
import { lostEnd, storedEnd, streamEnd } from './stream-end.ts';
import { checkUpdate } from './update.ts';

export interface AdkSessionOptions {
  live: LiveSession;
  engine: Engine;
  descriptor: AgentDescriptor;
  /** Milliseconds between two looks for what other processes write. */
  followMs?: number | undefined;
  onClose?: (() => Promise<void>) | undefined;
}

/** The runtime behind the AgentSession contract. */
export class AdkSession implements AgentSession {
  readonly descriptor: AgentDescriptor;
  readonly live: LiveSession;
  readonly #engine: Engine;
  readonly #onClose: AdkSessionOptions['onClose'];
  readonly #followMs: number | undefined;
  readonly #trace: SessionTrace | undefined;
  /** The run that this handle started. */
  #own: CurrentRun | undefined;
  /** Ends of those that follow the log on this handle. */
  readonly #watchers = new LazySet<() => void>();
  #initialized = false;
  /** The last stream left the tools to a host, which has fired what is its to fire. */
  #hostRuns = false;
  #closed = false;
  /** How far the last stream has shown the log. */
  #shown: { streamId: string; seq: number } | undefined;

  static {
    claimOwn((session) => #engine in session);
  }

  constructor(options: AdkSessionOptions) {
    this.live = options.live;
    this.descriptor = options.descriptor;
    this.#engine = options.engine;
    this.#onClose = options.onClose;
    this.#followMs = options.followMs;
    const { telemetry } = options.engine;
    this.#trace = telemetry && new SessionTrace(telemetry, this.id, options.descriptor.name);
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  get id(): string {
    return this.live.key.id;
  }

  /** Its agents: of these, whoever asks is named with the whole path. */
  get tree(): AgentTree {
    return this.#engine.tree;
  }

  get permissionMode(): PermissionMode | undefined {
    return this.live.fold.config.permissionMode as PermissionMode | undefined;
  }

  get hasOpen(): boolean {
    return this.live.fold.open.size > 0;
  }

  [answeredNow](): string[] {
    return unheardCalls(this.live.fold);
  }

  stream(input: string | SessionInput | readonly SessionInput[], options: ExecutionOptions = {}): AgentStream {
    const streamId = streamIdOf(options, newId);
    return new EventStream(
      streamId,
      (out) => {
        const inputs = normaliseInput(input);
        checkExecution(options);
        return this[pipe](inputs, { ...options, streamId }, out).then((end) => out.push(end));
      },
      (reason) => this.abort(reason === undefined ? {} : { reason }),
    );
  }

  /** No frame of its own waits for the run: with thousands of them each has its price. */
  [pipe](
    inputs: readonly SessionInput[],
    options: ExecutionOptions,
    queue: StreamQueue<AgentEvent>,
  ): Promise<StreamEndEvent> {
    if (this.#closed) return Promise.reject(closed(this.id));
    const { current, holding } = this.live;
    if (current || (holding && holding.by !== this)) return Promise.reject(busy(this.id));
    this.#hostRuns = options.hostToolExecution ?? false;
    const streamId = options.streamId ?? newId();
    const sink = new StreamSink(queue, this, streamId, options.streaming ?? true);
    const { telemetry } = this.#engine;
    const above = options.traceContext && telemetry?.extract?.(options.traceContext);
    // Whoever hands down a trace context has measured the turn already.
    const begun = inputs.some(({ kind }) => kind === 'message') ? undefined : this.live.fold.turn?.trace;
    const span = above ? undefined : this.#trace?.turn(undefined, begun);
    const traceContext = (span && telemetry?.inject?.(span)) ?? options.traceContext;
    const isWhole = options.streamId !== undefined && options.traceContext === traceContext;
    const bound = isWhole ? options : { ...options, streamId, ...(traceContext && { traceContext }) };
    // A host hears of it by itself: it has more to end.
    const heedEnds = () => (this.#hostRuns ? undefined : this[heed](({ abort }) => abort && this.#obey(abort)));
    const own = startRun(this.live, this.#engine, { inputs, options: bound, sink, span: above ?? span, heedEnds });
    this.#own = own;
    return own.result.then(
      (result) => {
        const end = () => this.#ended(sink, span, { result, hostRuns: options.hostToolExecution ?? false });
        const making = makeRequests(this.live, this.tree);
        return making ? making.then(end) : end();
      },
      (error: unknown) => this.#ended(sink, span, { error }),
    );
  }

  /** Somebody wants an end of it in another process. */
  #obey(target: AbortTarget): void {
    this.abort(target).catch((error: unknown) => this.#engine.warn(`session ${this.id} could not be aborted`, error));
  }

  [stirs](tell: (needs: Stirred) => void): () => void {
    const { live } = this;
    live.stir = tell;
    return () => {
      if (live.stir === tell) live.stir = undefined;
    };
  }

  /** The session is this handle's until it is given back: its streams, and what happens between them. */
  async [hold](options?: HoldOptions): Promise<() => Promise<void>> {
    if (this.#closed) throw closed(this.id);
    // An abort of what is open holds the lease for a moment.
    while (this.live.aborting) await this.live.aborting.catch(() => {});
    if (this.live.current || this.live.holding) throw busy(this.id);
    return this.live.hold(this, options);
  }

  async [startCalls](
    starts: readonly ToolApprovalInput[],
    streamId: string,
    queue: StreamQueue<AgentEvent>,
  ): Promise<{ open: PendingRequest[]; isNews: boolean }> {
    this.#assertOpen();
    const { live } = this;
    const { lease } = live.holding ?? {};
    if (live.current || live.holding?.by !== this || !lease) throw busy(this.id);
    const from = this.#shown?.streamId === streamId ? this.#shown.seq : live.at;
    const isNews = !(await storeStarts(live, lease.epoch, starts, streamId));
    const events = live.since(from);
    this.#shown = { streamId, seq: live.at };
    for (const event of events) for (const shown of project(this.id, event)) queue.push(shown);
    return { open: openRequests(live, this.tree), isNews };
  }

  #ended(
    sink: StreamSink,
    span: TelemetrySpan | undefined,
    came: { result: InvocationResult; hostRuns: boolean } | { error: unknown },
  ): StreamEndEvent {
    if (span) endTurn(span, 'result' in came ? came.result.reason : 'failed');
    this.live.current = undefined;
    this.#own = undefined;
    if (sink.isAccepted) this.#shown = { streamId: sink.streamId, seq: sink.seq };
    try {
      if ('error' in came) throw came.error;
      return streamEnd(this, sink.streamId, came.result, came.hostRuns);
    } catch (error) {
      if (!sink.isAccepted) throw error;
      return lostEnd(this, sink, error);
    }
  }

  /** A stream has begun where the log stood at `at`: what was stored between two parts of it belongs to it. */
  began(sink: StreamSink, at: number): void {
    this.#initialize(sink);
    if (this.#shown?.streamId === sink.streamId)
      for (const event of this.live.since(this.#shown.seq)) if (event.seq <= at) sink.event(event);
    sink.seq = at;
  }

  async respond(requestId: string, answer: RequestAnswer): Promise<Settlement> {
    this.#assertOpen();
    checkRequestId(requestId);
    const given = checkAnswer(answer);
    return answerRequest(this.live, this.#engine, requestId, given);
  }

  async [putQuestions](questions: readonly PutQuestion[]): Promise<void> {
    this.#assertOpen();
    await storeQuestions(this.live, questions);
  }

  async steer(data: SteerData): Promise<{ steerId: string; disposition: 'current_turn' | 'next_turn' }> {
    this.#assertOpen();
    checkSteer(data);
    const parts = checkContent(copyJson(data.content, 'steer'));
    return storeSteer(this.live, this.#engine, { threadId: data.threadId, parts }, this.#hostRuns);
  }

  async update(config: SessionUpdate): Promise<{ effective: 'next_step' }> {
    this.#assertOpen();
    await storeConfig(this.live, checkUpdate(config));
    return { effective: 'next_step' };
  }

  async abort(target: AbortCall = {}): Promise<void> {
    checkAbort(target);
    await abortSession(this, target, this.#followMs);
  }

  [heed](tell: (heard: Heeded) => void): (() => void) | undefined {
    return heedLog(this.live, tell, this.#following);
  }

  get #following(): FollowOptions {
    return { everyMs: this.#followMs, warn: this.#engine.warn };
  }

  events(options: { after?: string; limit?: number; live?: boolean } = {}): AsyncIterable<AgentEvent> {
    checkEvents(options);
    return readEvents(this.live, options, (end) => storedEnd(this, end), this.#following, this.#watchers);
  }

  async pending(): Promise<PendingRequest[]> {
    return openRequestsNow(this.live, this.tree, this);
  }

  async [openNow](requestId: string): Promise<PendingRequest | undefined> {
    return openRequestNow(this.live, this.tree, this, requestId);
  }

  async standing(): Promise<SessionStanding> {
    return standingOf(this.live, this.tree);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return;
    // Another handle's run is its own business.
    const running = this.#own;
    if (running) {
      running.invocation.abort('the session was closed');
      await running.result.catch(() => {});
    }
    this.#closed = true;
    for (const leave of this.#watchers) leave();
    this.#trace?.end();
    await this.#onClose?.();
  }

  #initialize(sink: StreamSink): void {
    if (this.#initialized) return;
    this.#initialized = true;
    sink.push({
      id: newId(),
      type: 'initialize',
      timestamp: isoTime(),
      sessionId: this.id,
      streamId: sink.streamId,
      agentId: this.descriptor.name,
      interfaceVersion: INTERFACE_VERSION,
    });
  }

  #assertOpen(): void {
    if (this.#closed) throw closed(this.id);
  }
}

function closed(id: string): CoxswainError {
  return new CoxswainError('FAILED_PRECONDITION', 'E_SESSION_CLOSED', `session ${id} was closed; open it again`);
}

function busy(id: string): CoxswainError {
  return new CoxswainError(
    'ABORTED',
    'E_SESSION_BUSY',
    `session ${id} has a live stream; wait for its end or abort it`,
    {
      retryable: true,
    },
  );
}
