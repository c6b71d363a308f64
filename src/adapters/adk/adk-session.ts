import { isoTime, LazySet, newId } from '../../base/index.ts';
import type {
  AgentDescriptor,
  AgentEvent,
  AgentStream,
  ArtifactAccess,
  Compaction,
  EventsOptions,
  ExecutorStreamOptions,
  HostAnswer,
  PermissionMode,
  PutQuestion,
  ReportedRequest,
  SessionInput,
  SessionStanding,
  SessionUpdate,
  Settlement,
  SteerData,
  StreamEndEvent,
  TelemetrySpan,
  ToolApprovalInput,
} from '../../contracts/index.ts';
import { copyJson, INTERFACE_VERSION } from '../../contracts/index.ts';
import type { AgentTree, InvocationResult } from '../../runtime/index.ts';
import { hearText, TextTeller } from '../../runtime/index.ts';
import type { AbortCall, RuntimeSessionOptions } from '../../runtime/session/index.ts';
import { RuntimeSession, storedEnd } from '../../runtime/session/index.ts';
import type { Heeded, HoldOptions, LogEnd, PipeableSession, Stirred, StreamQueue } from '../../session/index.ts';
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
  fromEnd,
  heed,
  hold,
  keptArtifacts,
  normaliseInput,
  openNow,
  partialTexts,
  pipe,
  putQuestions,
  resultArtifacts,
  SessionTrace,
  startCalls,
  stirs,
  streamIdOf,
} from '../../session/index.ts';
import { project } from './project.ts';
import { endOfLog, readEvents } from './read-events.ts';
import { StreamSink } from './sink.ts';
import { lostEnd, streamEnd } from './stream-end.ts';
import { checkUpdate } from './update.ts';

export interface AdkSessionOptions extends Omit<RuntimeSessionOptions, 'name'> {
  descriptor: AgentDescriptor;
  onClose?: (() => Promise<void>) | undefined;
}

/** A session of the runtime behind the AgentSession contract: inputs are checked, stored events shown as AgentEvents. */
export class AdkSession implements PipeableSession {
  readonly descriptor: AgentDescriptor;
  readonly runtime: RuntimeSession;
  readonly #onClose: AdkSessionOptions['onClose'];
  readonly #trace: SessionTrace | undefined;
  /** Ends of those that follow the log on this handle. */
  readonly #watchers = new LazySet<() => void>();
  #initialized = false;
  #closed = false;
  /** How far the last stream has shown the log. */
  #shown: { streamId: string; seq: number } | undefined;

  static {
    claimOwn((session) => #watchers in session);
  }

  constructor({ live, engine, followMs, descriptor, onClose }: AdkSessionOptions) {
    this.descriptor = descriptor;
    this.runtime = new RuntimeSession({ live, engine, followMs, name: descriptor.name });
    this.#onClose = onClose;
    const { telemetry } = engine;
    this.#trace = telemetry && new SessionTrace(telemetry, this.id, descriptor.name);
  }

  get id(): string {
    return this.runtime.id;
  }

  /** The session as all handles of this process share it. */
  get live(): RuntimeSession['live'] {
    return this.runtime.live;
  }

  get isClosed(): boolean {
    return this.runtime.isClosed;
  }

  /** Its agents: of these, whoever asks is named with the whole path. */
  get tree(): AgentTree {
    return this.runtime.tree;
  }

  get uid(): string | undefined {
    return this.runtime.uid;
  }

  get createdAt(): number {
    return this.runtime.createdAt;
  }

  get permissionMode(): PermissionMode | undefined {
    return this.runtime.permissionMode;
  }

  get hasOpen(): boolean {
    return this.runtime.standing.open.size > 0;
  }

  [answeredNow](): string[] {
    return this.runtime.answeredCalls;
  }

  stream(input: string | SessionInput | readonly SessionInput[], options: ExecutorStreamOptions = {}): AgentStream {
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
    options: ExecutorStreamOptions,
    queue: StreamQueue<AgentEvent>,
  ): Promise<StreamEndEvent> {
    const { runtime } = this;
    const refused = runtime.whyNotFree();
    if (refused) return Promise.reject(refused);
    const streamId = options.streamId ?? newId();
    const { service, key } = this.live;
    const teller = options.streaming === false ? undefined : TextTeller.of(service, key);
    const sink = new StreamSink(queue, this, streamId, options.streaming ?? true, teller);
    const { telemetry } = runtime;
    const above = options.traceContext && telemetry?.extract?.(options.traceContext);
    // Whoever hands down a trace context has measured the turn already.
    const begun = inputs.some(({ kind }) => kind === 'message') ? undefined : runtime.standing.turn?.trace;
    const span = above ? undefined : this.#trace?.turn(undefined, begun);
    const traceContext = (span && telemetry?.inject?.(span)) ?? options.traceContext;
    const isWhole = options.streamId !== undefined && options.traceContext === traceContext;
    const bound = isWhole ? options : { ...options, streamId, ...(traceContext && { traceContext }) };
    return runtime.run({ inputs, options: bound, sink, span: above ?? span }).then(
      (result) => {
        const end = () => this.#ended(sink, span, { result, hostRuns: options.hostToolExecution ?? false });
        const making = runtime.makeOpen();
        return making ? making.then(end) : end();
      },
      (error: unknown) => this.#ended(sink, span, { error }),
    );
  }

  [stirs](tell: (needs: Stirred) => void): () => void {
    return this.runtime.stirs(tell);
  }

  [hold](options?: HoldOptions): Promise<() => Promise<void>> {
    return this.runtime.hold(options);
  }

  async [startCalls](
    starts: readonly ToolApprovalInput[],
    streamId: string,
    queue: StreamQueue<AgentEvent>,
  ): Promise<{ open: ReportedRequest[]; isNews: boolean }> {
    const { runtime } = this;
    const from = this.#shown?.streamId === streamId ? this.#shown.seq : runtime.standing.at;
    const isNews = !(await runtime.startCalls(starts, streamId));
    const events = runtime.since(from);
    this.#shown = { streamId, seq: runtime.standing.at };
    for (const event of events) for (const shown of project(this.id, event)) queue.push(shown);
    return { open: runtime.open(), isNews };
  }

  #ended(
    sink: StreamSink,
    span: TelemetrySpan | undefined,
    came: { result: InvocationResult; hostRuns: boolean } | { error: unknown },
  ): StreamEndEvent {
    sink.teller?.end();
    if (span) endTurn(span, 'result' in came ? came.result.reason : 'failed');
    this.runtime.ended();
    if (sink.isAccepted) this.#shown = { streamId: sink.streamId, seq: sink.seq };
    try {
      if ('error' in came) throw came.error;
      return streamEnd(this.runtime, this.descriptor, sink.streamId, came.result, came.hostRuns);
    } catch (error) {
      if (!sink.isAccepted) throw error;
      return lostEnd(this.runtime, sink, error);
    }
  }

  /** A stream has begun where the log stood at `at`: what was stored between two parts of it belongs to it. */
  began(sink: StreamSink, at: number): void {
    this.#initialize(sink);
    if (this.#shown?.streamId === sink.streamId)
      for (const event of this.runtime.since(this.#shown.seq)) if (event.seq <= at) sink.event(event);
    sink.seq = at;
  }

  async respond(requestId: string, answer: HostAnswer): Promise<Settlement> {
    this.runtime.assertOpen();
    checkRequestId(requestId);
    return this.runtime.answer(requestId, checkAnswer(answer));
  }

  [partialTexts](show: (event: AgentEvent) => void): (() => void) | undefined {
    const { service, key } = this.live;
    // What runs here is shown by its stream.
    return hearText(service, key, (event) => void (this.live.current ?? show(event)));
  }

  async [putQuestions](questions: readonly PutQuestion[]): Promise<void> {
    this.runtime.assertOpen();
    await this.runtime.putQuestions(questions);
  }

  [resultArtifacts](callId: string): Pick<ArtifactAccess, 'save'> {
    return this.runtime.resultArtifacts(callId);
  }

  [keptArtifacts](): Pick<ArtifactAccess, 'load' | 'measure'> {
    return this.runtime.keptArtifacts();
  }

  async steer(data: SteerData): Promise<{ steerId: string; disposition: 'current_turn' | 'next_turn' }> {
    this.runtime.assertOpen();
    checkSteer(data);
    const parts = checkContent(copyJson(data.content, 'steer'));
    const by = data.by && copyJson(data.by, 'steer');
    return this.runtime.steer({ threadId: data.threadId, parts, by });
  }

  async update(config: SessionUpdate): Promise<{ effective: 'next_step' }> {
    this.runtime.assertOpen();
    await this.runtime.configure(checkUpdate(config));
    return { effective: 'next_step' };
  }

  async compact(): Promise<Compaction> {
    return this.runtime.compact();
  }

  async abort(target: AbortCall = {}): Promise<void> {
    checkAbort(target);
    await this.runtime.abort(target);
  }

  [heed](tell: (heard: Heeded) => void): (() => void) | undefined {
    return this.runtime.heed(tell);
  }

  events(options: EventsOptions = {}): AsyncIterable<AgentEvent> {
    checkEvents(options);
    return readEvents(this.runtime, options, (end) => storedEnd(this.runtime, this.descriptor, end), this.#watchers);
  }

  [fromEnd](): Promise<LogEnd> {
    return endOfLog(this.runtime, (end) => storedEnd(this.runtime, this.descriptor, end), this.#watchers);
  }

  async pending(): Promise<ReportedRequest[]> {
    return this.runtime.openNow();
  }

  async [openNow](requestId: string): Promise<ReportedRequest | undefined> {
    return this.runtime.requestNow(requestId);
  }

  async standing(): Promise<SessionStanding> {
    return this.runtime.standingNow();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return;
    await this.runtime.close();
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
}
