import type {
  AbortTarget,
  ArtifactAccess,
  Compaction,
  ExecutionOptions,
  PermissionMode,
  PutQuestion,
  ReportedRequest,
  RequestAnswer,
  SessionInput,
  SessionStanding,
  Settlement,
  Telemetry,
  TelemetrySpan,
  ToolApprovalInput,
} from '../../contracts/index.ts';
import { CoxswainError } from '../../contracts/index.ts';
import type { ResultArtifacts } from '../../gate/index.ts';
import type { Heeded, HoldOptions, Stirred } from '../../session/index.ts';
import type { AgentTree, Engine, InvocationResult, RunSink } from '../agent/index.ts';
import { lentArtifacts } from '../agent/index.ts';
import { unheardCalls } from '../calls/index.ts';
import type { CurrentRun, FollowOptions, LiveSession } from '../live/index.ts';
import type { Standing, StoredEvent } from '../log/index.ts';
import { heedLog } from './abort-elsewhere.ts';
import type { AbortCall } from './abort-session.ts';
import { abortSession } from './abort-session.ts';
import { answerRequest } from './answer-request.ts';
import { startCompaction } from './compact-session.ts';
import { EndsGivenBack } from './given-back.ts';
import { makeRequests, openRequestNow, openRequests, openRequestsNow } from './open-requests.ts';
import { standingOf } from './standing.ts';
import { storeStarts } from './start-calls.ts';
import { startRun } from './start-run.ts';
import type { SteerWords } from './steer.ts';
import { storeSteer } from './steer.ts';
import { storeConfig, storeQuestions } from './store-notes.ts';

export interface RuntimeSessionOptions {
  live: LiveSession;
  engine: Engine;
  /** What its agent is called. */
  name: string;
  /** Milliseconds between two looks for what other processes write. */
  followMs?: number | undefined;
}

export interface RuntimeRun {
  readonly inputs: readonly SessionInput[];
  readonly options: ExecutionOptions;
  readonly sink: RunSink;
  readonly span: TelemetrySpan | undefined;
}

/**
 * One handle of a session of the runtime: the front of `src/runtime` for whoever shows its sessions to others. What it
 * takes has been checked, and what it gives is the runtime's own: stored events, and what is open.
 */
export class RuntimeSession {
  /** The session as all handles of this process share it. */
  readonly live: LiveSession;
  readonly name: string;
  readonly #engine: Engine;
  readonly #followMs: number | undefined;
  /** The run that this handle started. */
  #own: CurrentRun | undefined;
  /** The last run left the tools to a host, which has fired what is its to fire. */
  #hostRuns = false;
  #closed = false;

  constructor({ live, engine, name, followMs }: RuntimeSessionOptions) {
    this.live = live;
    this.name = name;
    this.#engine = engine;
    this.#followMs = followMs;
  }

  get id(): string {
    return this.live.key.id;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** Its agents: of these, whoever asks is named with the whole path. */
  get tree(): AgentTree {
    return this.#engine.tree;
  }

  get telemetry(): Telemetry | undefined {
    return this.#engine.telemetry;
  }

  get uid(): string | undefined {
    return this.live.uid;
  }

  get createdAt(): number {
    return this.live.createdAt;
  }

  get permissionMode(): PermissionMode | undefined {
    return this.live.fold.config.permissionMode as PermissionMode | undefined;
  }

  /** What its log says now. */
  get standing(): LiveSession['fold'] {
    return this.live.fold;
  }

  /** Calls that the agent runs itself and that somebody has answered. */
  get answeredCalls(): string[] {
    return unheardCalls({ fold: this.live.fold, tree: this.tree });
  }

  /** @throws CoxswainError `FAILED_PRECONDITION / E_SESSION_CLOSED` */
  assertOpen(): void {
    if (this.#closed) throw closed(this.id);
  }

  /** Why no run can start now; undefined: one can. */
  whyNotFree(): CoxswainError | undefined {
    if (this.#closed) return closed(this.id);
    const { current, holding } = this.live;
    return current || (holding && holding.by !== this) ? busy(this.id) : undefined;
  }

  /** Starts a run; {@link ended} is told when its result has come. */
  run({ inputs, options, sink, span }: RuntimeRun): Promise<InvocationResult> {
    this.#hostRuns = options.hostToolExecution ?? false;
    // A host hears of it by itself: it has more to end.
    const heedEnds = () => (this.#hostRuns ? undefined : this.heed(({ abort }) => abort && this.#obey(abort)));
    const own = startRun(this.live, this.#engine, { inputs, options, sink, span, heedEnds });
    this.#own = own;
    return own.result;
  }

  /** The run that this handle started is over. */
  ended(): void {
    this.live.current = undefined;
    this.#own = undefined;
  }

  /**
   * Sums up what its agent's model is sent; resolves when that is stored.
   * @throws CoxswainError `ABORTED / E_SESSION_BUSY` while a run is under way; `FAILED_PRECONDITION / E_UNSUPPORTED`
   */
  async compact(): Promise<Compaction> {
    this.assertOpen();
    // An abort of what is open holds the lease for a moment.
    while (this.live.aborting) await this.live.aborting.catch(() => {});
    const refused = this.whyNotFree();
    if (refused) throw refused;
    const own = startCompaction(this.live, this.#engine);
    this.#own = own;
    try {
      return await own.result;
    } finally {
      this.ended();
    }
  }

  /** The session is this handle's until it is given back: its runs, and what happens between them. */
  async hold(options?: HoldOptions): Promise<() => Promise<void>> {
    this.assertOpen();
    // An abort of what is open holds the lease for a moment.
    while (this.live.aborting) await this.live.aborting.catch(() => {});
    if (this.live.current || this.live.holding) throw busy(this.id);
    return this.live.hold(this, options);
  }

  /** Stores starts of calls while this handle holds the session. False: others have written meanwhile. */
  startCalls(starts: readonly ToolApprovalInput[], streamId: string): Promise<boolean> {
    this.assertOpen();
    const { lease, by } = this.live.holding ?? {};
    if (this.live.current || by !== this || !lease) throw busy(this.id);
    return storeStarts(this.live, lease.epoch, starts, streamId);
  }

  /** Tells what a run needs of its host, until the returned function is called. */
  stirs(tell: (needs: Stirred) => void): () => void {
    const { live } = this;
    live.stir = tell;
    return () => {
      if (live.stir === tell) live.stir = undefined;
    };
  }

  /** Tells of what other processes do to the turn that runs here, until the returned function is called. */
  heed(tell: (heard: Heeded) => void): (() => void) | undefined {
    return heedLog(this.live, tell, this.#following);
  }

  answer(requestId: string, answer: RequestAnswer): Promise<Settlement> {
    return answerRequest(this.live, this.#engine, requestId, answer);
  }

  putQuestions(questions: readonly PutQuestion[]): Promise<void> {
    return storeQuestions(this.live, questions);
  }

  /** Its artifacts, for what is cut off the result of a call before that is handed in: its event notes what was kept. */
  resultArtifacts(callId: string): ResultArtifacts {
    return lentArtifacts({ engine: this.#engine }, callId);
  }

  /** Its artifacts, for people who look at it. */
  keptArtifacts(): Pick<ArtifactAccess, 'load' | 'measure'> {
    return this.#engine.services.artifacts({});
  }

  steer(words: SteerWords): ReturnType<typeof storeSteer> {
    return storeSteer(this.live, this.#engine, words, this.#hostRuns);
  }

  configure(config: Record<string, unknown>): Promise<void> {
    return storeConfig(this.live, config);
  }

  /** Ends its run, a part of it, or what is open while nothing runs; resolves when nothing more is written. */
  abort(target: AbortCall): Promise<void> {
    return abortSession(this, target, this.#followMs);
  }

  /** What it waits for, or waited for where it stood at the end of a turn. */
  open(standing?: Standing): ReportedRequest[] {
    return openRequests(this.live, this.tree, standing);
  }

  /** Where it waits for much: makes the list in pieces, so that it is at hand. Undefined: it is little. */
  makeOpen(): Promise<void> | undefined {
    return makeRequests(this.live, this.tree);
  }

  /** What it waits for, over all processes. */
  openNow(): Promise<ReportedRequest[]> {
    return openRequestsNow(this.live, this.tree, this);
  }

  requestNow(requestId: string): Promise<ReportedRequest | undefined> {
    return openRequestNow(this.live, this.tree, this, requestId);
  }

  standingNow(): Promise<SessionStanding> {
    return standingOf(this.live, this.tree);
  }

  /** Reads what others have written, and what is older than its checkpoint where `seq` lies there. Its newest event. */
  async readFrom(seq: number): Promise<number> {
    await this.live.catchUp();
    if (seq <= this.live.from) await this.live.whole();
    return this.live.fold.at;
  }

  /** Its newest event, whoever has written it; undefined: it has none. */
  async newest(): Promise<StoredEvent | undefined> {
    await this.live.catchUp();
    return this.live.newest();
  }

  /** Its events after one, as far as they are read. */
  since(seq: number): readonly StoredEvent[] {
    return this.live.since(seq);
  }

  /**
   * Shows events after `seq`, then those that are stored from now on, by whichever process; the end of a turn when the
   * session was given back. Until the returned function is called.
   */
  follow(seq: number, show: (event: StoredEvent) => void): () => void {
    const ends = new EndsGivenBack(this.live, show, this.#engine.warn);
    const see = (event: StoredEvent) => ends.show(event);
    // No await between the last stored event and the first live one: nothing falls in between.
    for (const event of this.live.since(seq)) see(event);
    const deaf = this.live.follow(see, { ...this.#following, isAwaited: true });
    return () => {
      deaf();
      ends.stop();
    };
  }

  /** Ends the run that this handle has started; another handle's is its own business. */
  async close(): Promise<void> {
    const running = this.#own;
    if (running) {
      running.invocation.abort('the session was closed');
      await running.result.catch(() => {});
    }
    this.#closed = true;
  }

  /** Somebody wants an end of it in another process. */
  #obey(target: AbortTarget): void {
    this.abort(target).catch((error: unknown) => this.#engine.warn(`session ${this.id} could not be aborted`, error));
  }

  get #following(): FollowOptions {
    return { everyMs: this.#followMs, warn: this.#engine.warn };
  }
}

function closed(id: string): CoxswainError {
  return new CoxswainError('FAILED_PRECONDITION', 'E_SESSION_CLOSED', `session ${id} was closed; open it again`);
}

function busy(id: string): CoxswainError {
  const message = `session ${id} has a live stream; wait for its end or abort it`;
  return new CoxswainError('ABORTED', 'E_SESSION_BUSY', message);
}
