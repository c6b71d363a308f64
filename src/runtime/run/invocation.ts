import { LazyMap, LazySet, newId } from '../../base/index.ts';
import type { Principal, SessionInput } from '../../contracts/index.ts';
import { CoxswainError, isCoxswainError, messageOf } from '../../contracts/index.ts';
import { frozenPrincipal } from '../../gate/index.ts';
import type { JoiningOptions, joined, unlessSince } from '../../session/index.ts';
import { begins } from '../../session/index.ts';
import type {
  Agent,
  AgentTree,
  Engine,
  InvocationOptions,
  InvocationResult,
  Place,
  RunningBranch,
  RunSink,
  TelemetrySpan,
} from '../agent/index.ts';
import { AgentContext, requesterOf, thrownOutcome } from '../agent/index.ts';
import { ownerOfThread, runDetachedCalls } from '../calls/index.ts';
import type { Plugin } from '../hooks/index.ts';
import { editEvent } from '../hooks/index.ts';
import type { LiveSession, RunningInvocation } from '../live/index.ts';
import type { BeganRecord, CallState, CompletedRecord, EventInit, Fold, Outcome, StoredEvent } from '../log/index.ts';
import { abandoned, applyDelta, createEvent, DONE, responseEvent } from '../log/index.ts';
import type { ContextServices } from '../services/index.ts';
import { ModelCalls } from '../step/index.ts';
import type { Lease, SessionKey, SessionService } from '../store/index.ts';
import { EarlyEnds } from './early-ends.ts';
import { Marks } from './marks.ts';
import type { OpenRun } from './open-run.ts';
import { eventAt } from './place-event.ts';
import { Reservations } from './reservations.ts';
import { beforeRun } from './run-hooks.ts';
import { runSlot } from './slot.ts';
import { leaseWithMessage, storeInputs } from './store-inputs.ts';
import { editSafely, endRun } from './turn-end.ts';

/** One run: from the acceptance of its inputs to the end of its stream. */
export class Invocation implements OpenRun, RunningInvocation {
  readonly invocationId: string = newId();
  readonly streamId: string;
  readonly session: LiveSession;
  readonly fold: Fold;
  readonly tree: AgentTree;
  readonly engine: Engine;
  readonly options: InvocationOptions & Pick<JoiningOptions, typeof joined | typeof begins | typeof unlessSince>;
  readonly sink: RunSink;
  /** Parent of what is measured. */
  readonly span: TelemetrySpan | undefined;
  readonly signal: AbortSignal;
  /** Those that see what is stored. */
  readonly eventHooks: readonly Plugin[];
  /** Uncommitted `temp:` state by agent-as-tool path; '' for the session's own. */
  readonly temp = new LazyMap<string, Record<string, unknown>>();
  /** Calls whose handlers run in this process now. */
  readonly running = new LazyMap<string, { cancel(reason: unknown): Promise<void> }>();
  /** Words that an agent is about to hear: of several that come to a step at once, one does. */
  readonly takenSteers = new LazySet<string>();
  readonly modelCalls = new ModelCalls();
  /** The inputs were accepted: its stream has begun. */
  accepted = false;
  /** Nothing that comes now can reach the turn any more. */
  closing = false;
  /** Id of the turn's end, where that is stored with the answer before it. */
  endId: string | undefined;
  readonly #controller = new AbortController();
  readonly #reservations = new Reservations();
  readonly #ends: EarlyEnds;
  readonly #marks = new Marks();
  #lease: Lease | undefined;
  #follow: (() => void) | undefined;
  #forget: (() => void) | undefined;

  constructor(session: LiveSession, engine: Engine, options: InvocationOptions, sink: RunSink, span?: TelemetrySpan) {
    this.session = session;
    this.fold = session.fold;
    this.tree = engine.tree;
    this.engine = engine;
    this.options = options;
    this.sink = sink;
    this.#ends = new EarlyEnds(sink);
    this.span = span;
    this.streamId = options.streamId ?? newId();
    this.signal = this.#controller.signal;
    this.eventHooks = engine.plugins.length === 0 ? engine.plugins : engine.plugins.filter((plugin) => plugin.onEvent);
  }

  get services(): ContextServices {
    return this.engine.services;
  }
  get key(): SessionKey {
    return this.session.key;
  }
  get sessionId(): string {
    return this.session.key.id;
  }
  get sessionUid(): string | undefined {
    return this.session.uid;
  }
  get turnId(): string {
    return this.fold.turn?.id ?? '';
  }
  get userId(): string {
    return this.session.key.userId;
  }
  /** Of the turn that runs, which may not have begun yet. */
  get principal(): Principal {
    const { terms } = this.options;
    return terms?.principal ? frozenPrincipal(terms.principal) : this.requesterOf(this.turnId);
  }
  requesterOf(turnId: string): Principal {
    return requesterOf(this.session, this.engine, turnId);
  }
  get store(): SessionService {
    return this.session.service;
  }
  get deps(): unknown {
    return this.options.deps ?? this.engine.deps;
  }
  /** Every tool call waits for the host. */
  get hostRuns(): boolean {
    return this.options.hostToolExecution ?? false;
  }

  state(): Record<string, unknown> {
    const state = { ...this.fold.shared, ...this.fold.state };
    applyDelta(state, this.temp.get('') ?? {});
    return structuredClone(state);
  }

  /**
   * Runs to the end of the stream.
   * @throws CoxswainError where the inputs are refused: nothing was stored
   */
  async run(inputs: readonly SessionInput[]): Promise<InvocationResult> {
    try {
      await this.#begin(inputs);
      if (this.options[begins]) return { reason: 'input_required' };
      const before = beforeRun(this, inputs);
      let outcome = before && (await before);
      // Enters the root slot until nothing moves any more.
      while (!outcome) {
        const { answers, steers } = this.fold;
        const known = { answers, steers: steers.size, reserved: this.#reservations.count };
        try {
          if (this.fold.open.size > 0) await runDetachedCalls(this);
          const reached = await this.#runRoot();
          if (this.end) outcome = DONE;
          else if (!(await this.#isNews(reached, known))) outcome = reached;
        } catch (error) {
          outcome = this.end ? DONE : thrownOutcome(this.signal, error);
        }
      }
      return await endRun(this, outcome);
    } finally {
      await this.#close();
    }
  }

  /** Does what is to be done at an agent's place while no turn runs: nothing is accepted, and no turn begins or ends. */
  async beside<T>(agent: Agent, work: (context: AgentContext) => Promise<T>): Promise<T> {
    // Whatever comes meanwhile is for the next turn.
    this.closing = true;
    try {
      const lease = await this.session.lease();
      this.#lease = lease;
      if (lease.lastSeq > this.fold.at) await this.session.catchUp();
      return await work(new AgentContext(this, agent, this.#rootPlace(agent)));
    } finally {
      await this.#close();
    }
  }

  /** Ends the run; resolves elsewhere (the stream's end). Idempotent. */
  abort(reason?: unknown): void {
    if (this.signal.aborted) return;
    this.#controller.abort(
      isCoxswainError(reason) ? reason : new CoxswainError('ABORTED', 'E_ABORTED', textOf(reason)),
    );
    this.sink.release();
  }

  /** Something is being stored that the run must see before it closes. */
  reserve(work: Promise<unknown>): void {
    this.#reservations.add(work);
  }

  /** What is being stored beside the run, if anything is. */
  stored(): Promise<void> | undefined {
    return this.#reservations.stored();
  }

  async reservations(): Promise<void> {
    await this.#reservations.stored();
  }

  /** A parallel branch that can be ended by itself. */
  branch(threadId: string, running: RunningBranch): () => void {
    return this.#ends.branch(threadId, running);
  }

  /** A branch, or an agent run as a tool, that has this thread and has not ended. */
  hasThread(threadId: string): boolean {
    if (this.#ends.hasBranch(threadId)) return true;
    const owner = ownerOfThread(this.fold, threadId);
    return owner !== undefined && !this.#marks.has(owner.path, 'completed');
  }

  /** Resolves when the branch writes nothing any more; undefined if it does not run here. */
  abortBranch(threadId: string, reason: unknown): Promise<void> | undefined {
    return this.#ends.abortBranch(threadId, reason);
  }

  /** Resolves when the call writes nothing any more; undefined if it does not run here. */
  abortCall(callId: string, reason: unknown): Promise<void> | undefined {
    const running = this.running.get(callId);
    return running && this.#ends.await(running.cancel(reason));
  }

  /** An event of an agent's place; what it sets of `temp:` state holds from now on. */
  event(place: Place, init: EventInit): StoredEvent {
    return eventAt(this, place, init);
  }

  /** Stores events and shows them; resolves when the consumer has asked for more. */
  async emit(...events: StoredEvent[]): Promise<void> {
    const hooks = this.eventHooks;
    // What is told after an abort has happened before it: hooks do not keep it out of the log.
    const edit = (event: StoredEvent) =>
      this.signal.aborted ? editSafely(this, event) : editEvent(this, hooks, event, this.signal);
    await this.commit(hooks.length > 0 ? await Promise.all(events.map(edit)) : events);
    const room = this.#ends.areWaitedFor ? undefined : this.sink.room(false);
    if (room) await room;
  }

  /** A slot is being ended by itself: what it has not told is not told any more. */
  forgetWithin(slot: string): void {
    this.#marks.forgetWithin(slot);
  }

  /** A slot has ended: recorded with the next event. */
  completed(record: CompletedRecord): void {
    if (!this.engine.ignoreCompleted) this.#marks.completed(record);
  }

  /** A child begins, or an iteration of a loop: told once, with the next event. */
  began(record: BeganRecord): void {
    const known = this.fold.activations.get(record.path);
    const { iteration } = record;
    const isKnown = iteration === undefined ? known?.began : (known?.iteration ?? -1) >= iteration;
    if (!isKnown) this.#marks.began(record);
  }

  /** Hooks of an activation have run: recorded with the next event. */
  hooksRan(path: string, point: 'entered' | 'exited'): void {
    this.#marks.ran(path, point);
  }

  /** What hooks have run, where no event follows that tells it: the run may go on in another process. */
  async tellHooks(): Promise<void> {
    if (this.#marks.hooksAreUntold) await this.commit([this.rootEvent({ author: this.tree.root.name })]);
  }

  haveHooksRun(path: string, point: 'entered' | 'exited'): boolean {
    return this.fold.activation(path)[point] || this.#marks.has(path, point);
  }

  origin(): { streamId: string; invocationId: string } {
    return { streamId: this.streamId, invocationId: this.invocationId };
  }

  /** Stores events and shows them as they are; what slots have told since goes with the first. */
  commit(events: StoredEvent[]): Promise<void> {
    const first = events[0];
    if (!first) return Promise.resolve();
    this.#marks.putOn(first);
    const lease = this.#lease;
    if (lease && this.endId !== undefined && events.at(-1)?.id === this.endId && this.#mayLetGo)
      return this.session.commitLast(events, lease);
    return this.session.commit(events, lease?.epoch ?? 0);
  }

  /** Nothing of the run comes after the end of its turn. */
  get #mayLetGo(): boolean {
    return !this.engine.plugins.some(({ afterRun }) => afterRun);
  }

  /** An event of the turn, of no agent's place. */
  rootEvent(init: EventInit): StoredEvent {
    return createEvent({ ...this.origin(), turnId: this.turnId, ...init });
  }

  /** The end of the turn, where it was stored with the answer before it. */
  get end(): StoredEvent | undefined {
    const { endId } = this;
    return endId === undefined ? undefined : this.session.log.findLast((event) => event.id === endId);
  }

  /** The end of the turn, to be stored with this answer. Undefined: something may come between the two. */
  endBehind(answer: StoredEvent): StoredEvent | undefined {
    const { fold, eventHooks } = this;
    if (eventHooks.length > 0 || fold.open.size > 0 || fold.steers.size > 0 || this.stored()) return undefined;
    this.closing = true;
    const end = this.rootEvent({ author: answer.author, actions: { end: { reason: 'completed' } } });
    this.endId = end.id;
    return end;
  }

  /** What closes calls that nobody will answer. */
  settle(calls: Iterable<CallState>, why: string): StoredEvent[] {
    // Leaf first: what was asked last is closed first.
    return [...calls].reverse().map((call) => responseEvent(call, abandoned(call, why), this.origin()));
  }

  /** Accepts the inputs; from here on what is stored is shown. */
  async #begin(inputs: readonly SessionInput[]): Promise<void> {
    // An abort of what is open holds the lease for a moment.
    while (this.session.aborting) await this.session.aborting.catch(() => {});
    const taking = leaseWithMessage(this, inputs);
    const taken = taking && (await taking);
    const lease = taken?.lease ?? (await this.session.lease());
    this.#lease = lease;
    if (!taken?.stored && lease.lastSeq > this.fold.at) await this.session.catchUp();
    this.fold.shared = Object.isFrozen(lease.shared) ? lease.shared : { ...lease.shared };
    const outer = this.options.signal;
    if (outer) {
      this.#follow = () => this.abort(outer.reason);
      outer.addEventListener('abort', this.#follow, { once: true });
    }
    const { at, stored } = taken?.stored ?? (await storeInputs(this, inputs, lease.epoch));
    this.accepted = true;
    // What others wrote before this stream is not a part of it.
    this.sink.accepted(at);
    this.#forget = this.session.listen((event) => this.sink.event(event));
    // Who has read the log meanwhile may have taken them in.
    if (this.fold.at > at) for (const event of this.session.since(at)) this.sink.event(event);
    const gap = this.session.absorb(stored);
    if (gap) await gap;
    if (outer?.aborted) this.abort(outer.reason);
    const room = stored.length > 0 ? this.sink.room(false) : undefined;
    if (room) await room;
  }

  async #close(): Promise<void> {
    this.closing = true;
    if (this.#follow) this.options.signal?.removeEventListener('abort', this.#follow);
    this.#forget?.();
    await this.#lease?.release();
    const kept = this.session.keepCheckpoint(this.engine.warn);
    if (kept) await kept;
  }

  /** Answers or steers have come that this run still takes up. False: it is closing. */
  async #isNews(outcome: Outcome, before: { answers: number; steers: number; reserved: number }): Promise<boolean> {
    if (this.signal.aborted) return false;
    // Before the last look: whoever answers while it is stored is heard.
    if (outcome.kind === 'suspended' && this.#marks.hooksAreUntold) await this.tellHooks();
    const storing = this.stored();
    if (storing) await storing;
    const { fold } = this;
    if (outcome.kind === 'suspended') {
      // Answers of other processes, and those that came while other tools ran. A host that holds the session looks itself:
      // before it stores a start, and once more when it has let go.
      if (!this.session.holding) await this.session.catchUp();
      if (fold.answers !== before.answers || this.#reservations.count !== before.reserved) return true;
    } else if (outcome.kind === 'done' && fold.steers.size > 0 && fold.steers.size !== before.steers) {
      return true;
    }
    this.closing = true;
    return false;
  }

  /** What a child throws is its failure: siblings are stopped, and an agent run as a tool fails its call alone. */
  async runSlot(agent: Agent, place: Place): Promise<Outcome> {
    try {
      return await runSlot(this, agent, place);
    } catch (error) {
      return thrownOutcome(place.signal, error);
    }
  }

  #runRoot(): Promise<Outcome> {
    const root = this.tree.find(this.fold.turn?.start ?? '') ?? this.tree.root;
    return runSlot(this, root, this.#rootPlace(root));
  }

  #rootPlace(agent: Agent): Place {
    return {
      path: '',
      iso: [],
      agentPath: this.tree.pathOf(agent).slice(0, -1),
      tree: this.tree,
      signal: this.signal,
      span: this.span,
    };
  }
}

function textOf(reason: unknown): string {
  if (reason === undefined) return 'aborted';
  return messageOf(reason);
}
