import { LazyMap, LazySet, Pace } from '../../base/index.ts';
import type { Content, ContentPart, FunctionResponsePart, TurnTerms, Usage } from '../../contracts/index.ts';
import { setOwn, textOfParts } from '../../contracts/index.ts';
import { addUsage, callIdOf, isHostQuestion, LastWords } from '../../session/index.ts';
import type { Activation } from './activation.ts';
import { newActivation } from './activation.ts';
import type { CallState, Settled } from './call-state.ts';
import { callTurns, newCall, stillCall } from './call-state.ts';
import type { Event, StoredAnswer } from './event.ts';
import { noDelta, threadOf } from './event.ts';
import type { FoldState } from './fold-state.ts';
import { isWithin, slotOfCall } from './slot-path.ts';
import { applyDelta, scopeOf } from './state.ts';
import type { Standing, TurnState } from './turn-state.ts';
import { stillOf } from './turn-state.ts';

/** What a session is configured to do, beside its agent. */
export interface SessionConfig {
  model?: string;
  title?: string;
  permissionMode?: string;
  tools?: readonly Record<string, unknown>[];
  config?: Record<string, unknown>;
}

const rootSlot = /^(?:~[^/~]+)?$/;
/**
 * The present of a session: the sum of its events. Changes in `apply` only, so that a restart that folds the log
 * again arrives at the same place.
 */
export class Fold {
  /** seq of the newest event that was applied. */
  at = 0;
  /** Session state; shared keys are in `shared`. */
  readonly state: Record<string, unknown>;
  /** `app:` and `user:` keys. */
  shared: Record<string, unknown>;
  /** Uncommitted state of agents run as tools, by their path. */
  readonly isolated = new LazyMap<string, Record<string, unknown>>();
  /** Last words of agents run as tools, by their path. */
  readonly isolatedText = new LazyMap<string, LastWords>();
  readonly config: SessionConfig = {};
  readonly calls = new LazyMap<string, CallState>();
  /** Calls without a response, oldest first. */
  readonly open = new LazyMap<string, CallState>();
  /** How calls of earlier turns were closed. */
  readonly closed = new LazyMap<string, Settled>();
  readonly activations = new LazyMap<string, Activation>();
  readonly steers = new LazyMap<string, Event>();
  /** Of the newest turn and those that have open calls, by turn. */
  readonly terms = new LazyMap<string, TurnTerms>();
  turn: TurnState | undefined;
  /** Whoever spoke last in the root slot of the newest turn. */
  occupant: string | undefined;
  /** A long-running call has come to its result since the newest turn has ended. */
  hasLateResult = false;
  /** Counts decisions and answers: a run looks whether more have come since it looked last. */
  answers = 0;
  /** What stood when a turn ended, by the seq of its end: an end that is read back says what it said. */
  readonly ends = new LazyMap<number, Standing>();
  totalUsage: Usage = {};
  totalCalls = 0;
  readonly #cutIds = new LazySet<string>();
  readonly #made = new WeakMap<Event, CallState[]>();
  #lastTime = 0;
  #lastStream = '';

  /** `start`: what an earlier fold of the same log had come to; only what follows it is applied here. */
  constructor(
    initialState: Readonly<Record<string, unknown>>,
    shared: Readonly<Record<string, unknown>>,
    start?: FoldState,
  ) {
    this.state = { ...(start?.state ?? initialState) };
    this.shared = { ...shared };
    if (start) this.#begin(start);
  }

  /** What is left of it when the next event begins a turn. Undefined: some agent or some words wait for their turn to go on. */
  betweenTurns(): FoldState | undefined {
    if (this.steers.size > 0) return undefined;
    const open: Omit<CallState, 'cutIds'>[] = [];
    for (const call of this.open.values()) {
      if (call.entered) return undefined;
      const { cutIds: _, ...still } = stillCall(call);
      open.push(still);
    }
    const { at, state, config, answers, totalUsage, totalCalls } = this;
    return {
      seq: at,
      state: { ...state },
      config: { ...config },
      open,
      terms: [...this.terms].filter(([turnId]) => this.#waitsFor(turnId)),
      answers,
      totalUsage,
      totalCalls,
      cutIds: [...this.#cutIds],
      lastTime: this.#lastTime,
      lastStream: this.#lastStream,
    };
  }

  /** Takes what a fold of the events before this one's start knows of turns and calls that are over. */
  precede(older: Fold): void {
    for (const [id, settled] of older.closed) if (!this.closed.has(id)) this.closed.set(id, settled);
    for (const { id, settled } of older.calls.values())
      if (settled && !this.closed.has(id)) this.closed.set(id, settled);
    for (const [seq, standing] of older.ends) this.ends.set(seq, standing);
  }

  #begin({ seq, config, open, terms, answers, totalUsage, totalCalls, cutIds, lastTime, lastStream }: FoldState): void {
    this.at = seq;
    this.#configure(config);
    for (const id of cutIds) this.#cutIds.add(id);
    for (const call of open) {
      const own = stillCall({ ...call, cutIds: this.#cutIds });
      this.calls.set(own.id, own);
      this.open.set(own.id, own);
    }
    for (const [turnId, own] of terms) this.terms.set(turnId, own);
    this.answers = answers;
    this.totalUsage = totalUsage;
    this.totalCalls = totalCalls;
    this.#lastTime = lastTime;
    this.#lastStream = lastStream;
  }

  activation(path: string): Activation {
    let activation = this.activations.get(path);
    if (!activation) {
      activation = newActivation();
      this.activations.set(path, activation);
    }
    return activation;
  }

  /** Makes the calls of a large event in pieces: what is left of taking it in is short. Nothing is told by it yet. */
  async prepare(event: Event): Promise<void> {
    const pace = new Pace();
    const calls: CallState[] = [];
    for (const call of callsOf(event, this.#cutIds)) {
      calls.push(call);
      const rest = pace.rest();
      if (rest) await rest;
    }
    this.#made.set(event, calls);
  }

  apply(event: Event): void {
    this.at = event.seq;
    const { actions } = event;
    if (actions.turn) this.#openTurn(event, actions.turn.start);
    if (actions.terms) this.terms.set(event.turnId, actions.terms);
    this.#clock(event);
    if (actions.reopened) this.#reopen();
    if (actions.stateDelta !== noDelta) this.#applyState(event);
    if (actions.decisions ?? actions.started ?? actions.asks ?? actions.questions ?? actions.answers ?? actions.interim)
      this.#applyCalls(event);
    const { completed, began, entered, exited, delivered } = actions;
    if (completed ?? began ?? entered ?? exited) this.#applyPlaces(event);
    if (actions.config) this.#configure(actions.config);
    if (delivered) for (const id of delivered) this.steers.delete(id);
    if (actions.steer) this.steers.set(event.id, event);
    else if (event.content) this.#applyContent(event, event.content);
    if (event.usage) this.#addUsage(event.usage);
    if (actions.end && this.turn) {
      this.turn.ended = actions.end.reason;
      this.ends.set(event.seq, stillOf(this));
    }
  }

  /** What has begun and ended in the tree. */
  #applyPlaces(event: Event): void {
    const { completed = none, began = none, entered = none, exited = none } = event.actions;
    for (const record of completed) {
      this.activation(record.path).completed = { agent: record.agent, outcome: record.outcome };
    }
    for (const { path, iteration, agent, thread = threadOf(event) ?? '' } of began) {
      if (iteration === undefined) this.activation(path).began = { agent, thread };
      else this.activation(path).iteration = iteration;
    }
    for (const path of entered) this.activation(path).entered = true;
    for (const path of exited) this.activation(path).exited = true;
  }

  /**
   * Goes back to the sum of `events`. Shared state and settings stay as they are, and what was spent stays spent. A
   * call that is open again and was started in what is cut has an unknown outcome. `before`: what stands before `events`.
   */
  rewind(
    initialState: Readonly<Record<string, unknown>>,
    events: readonly Event[],
    cut: readonly Event[],
    before?: FoldState,
  ): void {
    const { shared, totalUsage, totalCalls, state, answers } = this;
    const config = { ...this.config };
    const first = before?.state ?? initialState;
    for (const key of Object.keys(state)) delete state[key];
    for (const key of Object.keys(first)) setOwn(state, key, first[key]);
    const { calls, open, closed, activations, isolated, isolatedText, steers, terms, ends } = this;
    for (const map of [calls, open, closed, activations, isolated, isolatedText, steers, terms, ends]) map.clear();
    this.turn = undefined;
    this.hasLateResult = false;
    this.occupant = undefined;
    this.#lastStream = '';
    this.shared = {};
    if (before) this.#begin(before);
    this.answers = answers;
    for (const event of events) this.apply(event);
    this.shared = shared;
    Object.assign(this, { totalUsage, totalCalls });
    this.#configure(Object.fromEntries(Object.keys(this.config).map((key) => [key, null])));
    this.#configure(config);
    for (const { id, actions } of cut) {
      this.#cutIds.add(id);
      for (const started of actions.started ?? []) {
        const call = open.get(started);
        if (!call) continue;
        start(call, actions.startedIn);
      }
    }
  }

  #openTurn(event: Event, start: string): void {
    this.turn = { id: event.turnId, start, seq: event.seq, llmCalls: 0, usage: {}, activeMs: 0 };
    if (event.actions.trace) this.turn.trace = event.actions.trace;
    this.occupant = start;
    this.hasLateResult = false;
    this.#forgetPlaces();
    for (const call of this.calls.values()) {
      if (!call.settled) continue;
      this.closed.set(call.id, call.settled);
      this.calls.delete(call.id);
    }
    for (const turnId of this.terms.keys()) if (!this.#waitsFor(turnId)) this.terms.delete(turnId);
  }

  /** Places are of one turn; but an agent that an open call runs goes on where it stands. */
  #forgetPlaces(): void {
    const { activations, isolated, isolatedText } = this;
    const kept = [...this.open.values()].filter(({ entered }) => entered).map(slotOfCall);
    for (const map of [activations, isolated, isolatedText]) {
      if (kept.length === 0) map.clear();
      else for (const path of [...map.keys()]) if (!kept.some((slot) => isWithin(slot, path))) map.delete(path);
    }
  }

  #waitsFor(turnId: string): boolean {
    for (const call of this.open.values()) if (call.turnId === turnId) return true;
    return false;
  }

  #reopen(): void {
    if (!this.turn) return;
    delete this.turn.ended;
    this.turn.llmCalls = 0;
    this.turn.activeMs = 0;
    this.turn.usage = {};
    for (const activation of this.activations.values()) activation.base = activation.steps;
  }

  /** Time passes inside a stream; between streams, and while a person is asked, it is free. */
  #clock(event: Event): void {
    if (this.turn && event.streamId !== '' && event.streamId === this.#lastStream && !event.actions.answers) {
      this.turn.activeMs += Math.max(0, event.timestamp - this.#lastTime);
    }
    this.#lastTime = event.timestamp;
    this.#lastStream = event.streamId;
  }

  #applyState(event: Event): void {
    const delta = event.actions.stateDelta;
    if (event.iso !== undefined) {
      if (Object.keys(delta).length === 0) return;
      const own = this.isolated.get(event.iso) ?? {};
      // Nulls are kept here: they will delete in the parent when the delta is merged.
      for (const key of Object.keys(delta)) setOwn(own, key, delta[key]);
      this.isolated.set(event.iso, own);
      return;
    }
    for (const key in delta) {
      applyDelta(scopeOf(key) === 'session' ? this.state : this.shared, { [key]: delta[key] });
    }
  }

  #applyCalls(event: Event): void {
    const { actions } = event;
    for (const [id, decision] of entriesOf(actions.decisions)) {
      const call = this.#changed(id);
      if (call) {
        call.decision = decision;
        call.decidedAt = callTurns(call);
      }
      this.answers++;
    }
    for (const id of actions.started ?? []) {
      const call = this.calls.get(id);
      if (call) start(call, actions.startedIn);
    }
    for (const ask of actions.asks ?? []) {
      const call = this.#changed(ask.callId);
      if (!call) continue;
      call.asks.push({ ...ask, requestedAt: event.timestamp, attempt: call.attempts });
      // A handler that ends with a question has been heard of: its outcome is known.
      if (ask.kind !== 'rerun_unknown') call.started = false;
    }
    for (const question of actions.questions ?? []) {
      const call = this.#changed(this.callOf(question.requestId)?.id ?? '');
      if (call) call.questions = [...(call.questions ?? []), question];
    }
    for (const [requestId, answer] of entriesOf(actions.answers)) this.#answer(requestId, answer);
    for (const [id, interim] of entriesOf(actions.interim)) {
      const call = this.#changed(id);
      if (!call) continue;
      call.interim = interim;
      call.started = false;
    }
  }

  /** A call that is about to change. */
  #changed(id: string): CallState | undefined {
    const call = this.calls.get(id);
    if (call) call.version++;
    return call;
  }

  #answer(requestId: string, answer: StoredAnswer): void {
    this.answers++;
    const call = this.#changed(this.callOf(requestId)?.id ?? '');
    if (!call) return;
    if (isHostQuestion(requestId)) {
      call.hostAnswers.push({ ...answer, requestId, attempt: call.attempts });
      return;
    }
    const ask = call.asks.find((candidate) => candidate.requestId === requestId);
    if (ask) ask.answer = answer;
  }

  /** The call that a request id belongs to: its own, or that of one of its questions. */
  callOf(requestId: string): CallState | undefined {
    return this.calls.get(requestId) ?? this.calls.get(callIdOf(requestId));
  }

  #configure(update: Record<string, unknown>): void {
    const config = this.config as Record<string, unknown>;
    for (const [key, value] of Object.entries(update)) {
      if (value === null) delete config[key];
      else if (value !== undefined) config[key] = value;
    }
  }

  #applyContent(event: Event, content: Content): void {
    const activation = this.activation(event.path);
    if (event.author !== 'user') {
      activation.own.push(event);
      if (rootSlot.test(event.path) && event.iso === undefined) this.occupant = event.author;
    } else if (event.iso === event.path) {
      activation.input = true;
      const call = this.#changed(event.path.slice(event.path.lastIndexOf('/') + 1));
      if (call) call.entered = true;
    }
    if (content.role === 'model') this.#applyModelContent(event, content.parts, activation);
    else {
      for (const part of content.parts) if (part.type === 'function_response') this.#settle(event, part);
    }
  }

  #applyModelContent(event: Event, parts: readonly ContentPart[], activation: Activation): void {
    if (event.actions.hook === 'after') {
      // Words after the end: what the agent's own last step asked for still counts.
      this.#speakIsolated(event, parts);
      return;
    }
    if (event.actions.hook === 'before') activation.replaced = true;
    activation.steps++;
    // Text that an abort cut off is no answer: a turn that goes on asks again.
    activation.final = !event.interrupted;
    activation.batch = this.#made.get(event) ?? (hasCalls(parts) ? [...callsOf(event, this.#cutIds)] : []);
    for (const call of activation.batch) {
      activation.final = false;
      this.calls.set(call.id, call);
      this.open.set(call.id, call);
      this.totalCalls++;
    }
    if (event.model !== undefined && this.turn) this.turn.llmCalls++;
    if (activation.final) this.#speakIsolated(event, parts);
  }

  #speakIsolated({ iso, thread = iso ?? '', path }: Event, parts: readonly ContentPart[]): void {
    if (iso === undefined) return;
    const words = this.isolatedText.get(iso) ?? new LastWords();
    this.isolatedText.set(iso, words);
    words.say(thread, textOfParts(parts), path);
  }

  #settle(event: Event, part: FunctionResponsePart): void {
    const call = this.#changed(part.id);
    if (!call || call.settled) return;
    const by = event.customMetadata?.settledBy;
    call.settled = {
      seq: event.seq,
      isError: part.isError === true,
      ...(part.errorType === undefined ? {} : { errorType: part.errorType }),
      ...(typeof by === 'string' ? { by } : {}),
    };
    call.effects = call.signals ? { ...event.actions, ...call.signals } : event.actions;
    call.started = false;
    this.open.delete(part.id);
    const isGivenUp = part.errorType === 'interrupted' || part.errorType === 'cancelled';
    if (call.longRunning && this.turn?.ended !== undefined && !isGivenUp) this.hasLateResult = true;
    if (this.turn && call.turnId !== this.turn.id) {
      this.closed.set(call.id, call.settled);
      this.calls.delete(call.id);
    }
  }

  #addUsage(usage: Usage): void {
    this.totalUsage = addUsage(this.totalUsage, usage);
    if (this.turn) this.turn.usage = addUsage(this.turn.usage, usage);
  }
}

function hasCalls(parts: readonly ContentPart[]): boolean {
  for (const { type } of parts) if (type === 'function_call') return true;
  return false;
}

/** Calls as the model has just made them. */
function* callsOf(event: Event, cutIds: CallState['cutIds']): Generator<CallState> {
  const longRunning = new Set(event.longRunningToolIds);
  for (const part of event.content?.parts ?? []) {
    if (part.type === 'function_call') yield newCall(event, part, longRunning.has(part.id), cutIds);
  }
}

function start(call: CallState, epoch: number | undefined): void {
  call.version++;
  call.started = true;
  if (epoch !== undefined) call.startedIn = epoch;
  call.attempts++;
}

const none: readonly never[] = [];

/** Most events have none: nothing is made for them. */
function entriesOf<T>(record: Record<string, T> | undefined): readonly [string, T][] {
  return record ? Object.entries(record) : none;
}
