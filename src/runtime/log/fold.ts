import { LazyMap } from '../../base/index.ts';
import type { Content, ContentPart, FunctionResponsePart, TurnTerms, Usage } from '../../contracts/index.ts';
import { addUsage } from '../../session/index.ts';
import type { Activation } from './activation.ts';
import type { CallState } from './call-state.ts';
import type { EventActions, StoredEvent } from './event.ts';
import { noDelta } from './event.ts';
import { FoldedCalls } from './fold-calls.ts';
import { FoldedPlaces } from './fold-places.ts';
import type { FoldState } from './fold-state.ts';
import { applyDelta, noState, scopeOf } from './state.ts';
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
/** What nobody changes is kept as it is. */
const frozenOrCopied = (state: Readonly<Record<string, unknown>>) => (Object.isFrozen(state) ? state : { ...state });

/**
 * The present of a session: the sum of its events. Changes in `apply` only, so that a restart that folds the log
 * again arrives at the same place.
 */
export class Fold {
  /** seq of the newest event that was applied. */
  at = 0;
  /** Id of the log's first event; '' where there is none. */
  first = '';
  /** Session state; shared keys are in `shared`. Copied before it is written to, where it is frozen. */
  state: Readonly<Record<string, unknown>>;
  /** `app:` and `user:` keys; the same holds. */
  shared: Readonly<Record<string, unknown>>;
  config: Readonly<SessionConfig> = noState;
  readonly #calls = new FoldedCalls();
  readonly #places = new FoldedPlaces();
  readonly steers = new LazyMap<string, StoredEvent>();
  /** Of the newest turn and those that have open calls, by turn. */
  readonly terms = new LazyMap<string, TurnTerms>();
  /** The agents that these were begun with. */
  readonly #roots = new LazyMap<string, string>();
  turn: TurnState | undefined;
  /** Whoever spoke last in the root slot of the newest turn. */
  occupant: string | undefined;
  /** A long-running call has come to its result since the newest turn has ended. */
  hasLateResult = false;
  /** What stood when a turn ended, by the seq of its end: an end that is read back says what it said. */
  readonly ends = new LazyMap<number, Standing>();
  totalUsage: Usage = noState;
  #lastTime = 0;
  #lastStream = '';

  /** `start`: what an earlier fold of the same log had come to; only what follows it is applied here. */
  constructor(
    initialState: Readonly<Record<string, unknown>>,
    shared: Readonly<Record<string, unknown>>,
    start?: FoldState,
  ) {
    this.state = frozenOrCopied(start?.state ?? initialState);
    this.shared = frozenOrCopied(shared);
    if (start) this.#begin(start);
  }

  /** Calls of the newest turn, and those of earlier ones that are open still. */
  get calls(): FoldedCalls['known'] {
    return this.#calls.known;
  }

  /** Calls without a response, oldest first. */
  get open(): FoldedCalls['open'] {
    return this.#calls.open;
  }

  /** How calls of earlier turns were closed. */
  get closed(): FoldedCalls['closed'] {
    return this.#calls.closed;
  }

  get activations(): FoldedPlaces['activations'] {
    return this.#places.activations;
  }

  /** Uncommitted state of agents run as tools, by their path. */
  get isolated(): FoldedPlaces['isolated'] {
    return this.#places.isolated;
  }

  /** Last words of agents run as tools, by their path. */
  get isolatedText(): FoldedPlaces['isolatedText'] {
    return this.#places.isolatedText;
  }

  /** Counts decisions and answers: a run looks whether more have come since it looked last. */
  get answers(): number {
    return this.#calls.answers;
  }

  get totalCalls(): number {
    return this.#calls.total;
  }

  /** What is left of it when the next event begins a turn. Undefined: a call is open, or some words wait for their turn. */
  betweenTurns(): FoldState | undefined {
    if (this.steers.size > 0 || this.open.size > 0) return undefined;
    const { at, first, state, config, answers, totalUsage, totalCalls } = this;
    return {
      seq: at,
      first,
      state: { ...state },
      config: { ...config },
      answers,
      totalUsage,
      totalCalls,
      cutIds: [...this.#calls.cutIds],
      lastTime: this.#lastTime,
      lastStream: this.#lastStream,
    };
  }

  /** Takes what a fold of the events before this one's start knows of turns and calls that are over. */
  precede(older: Fold): void {
    this.#calls.precede(older.#calls);
    for (const [seq, standing] of older.ends) this.ends.set(seq, standing);
  }

  #begin(start: FoldState): void {
    this.at = start.seq;
    this.first = start.first;
    this.#configure(start.config);
    this.#calls.begin(start);
    this.totalUsage = start.totalUsage;
    this.#lastTime = start.lastTime;
    this.#lastStream = start.lastStream;
  }

  activation(path: string): Activation {
    return this.#places.activation(path);
  }

  /** Makes the calls of a large event in pieces: what is left of taking it in is short. Nothing is told by it yet. */
  prepare(event: StoredEvent): Promise<void> {
    return this.#calls.prepare(event);
  }

  apply(event: StoredEvent): void {
    this.at = event.seq;
    if (this.first === '') this.first = event.id;
    const { actions } = event;
    if (actions.turn) this.#openTurn(event, actions.turn);
    if (actions.terms) this.terms.set(event.turnId, actions.terms);
    this.#clock(event);
    if (actions.reopened) this.#reopen();
    if (actions.stateDelta !== noDelta) {
      if (event.iso === undefined) this.#applyState(actions.stateDelta);
      else this.#places.keepState(event.iso, actions.stateDelta);
    }
    if (actions.decisions ?? actions.started ?? actions.asks ?? actions.questions ?? actions.answers ?? actions.interim)
      this.#calls.apply(event);
    const { completed, began, entered, exited, delivered } = actions;
    if (completed ?? began ?? entered ?? exited) this.#places.apply(event);
    if (actions.config) this.#configure(actions.config);
    if (delivered) for (const id of delivered) this.steers.delete(id);
    if (actions.steer) this.steers.set(event.id, event);
    else if (event.content) this.#applyContent(event, event.content);
    if (event.usage) this.#addUsage(event.usage);
    if (actions.compacted?.model !== undefined && this.turn) this.turn.llmCalls++;
    if (actions.end && this.turn) {
      this.turn.ended = actions.end.reason;
      this.ends.set(event.seq, stillOf(this));
    }
  }

  /** An event that is applied later, where no rewind cuts it before: what stays of it either way. */
  outlast(event: StoredEvent): void {
    const { actions, iso, usage } = event;
    if (this.first === '') this.first = event.id;
    if (actions.stateDelta !== noDelta && iso === undefined) this.#applyState(actions.stateDelta, 'shared');
    if (actions.config) this.#configure(actions.config);
    if (usage) this.totalUsage = addUsage(this.totalUsage, usage);
    this.#calls.count(event);
  }

  /** A rewind has cut these events. */
  cut(events: readonly StoredEvent[]): void {
    for (const { id } of events) this.#calls.cutIds.add(id);
  }

  /**
   * Goes back to the sum of `events`. Shared state and settings stay as they are, and what was spent stays spent. A
   * call that is open again and was started in what is cut has an unknown outcome: `lost` has the events that started
   * calls, by the seq of the rewind that has cut them. `before`: what stands before `events`.
   */
  rewind(
    initialState: Readonly<Record<string, unknown>>,
    events: readonly StoredEvent[],
    lost: ReadonlyMap<number, readonly StoredEvent[]>,
    before?: FoldState,
  ): void {
    const { shared, totalUsage, steers, terms, ends } = this;
    const { answers, total } = this.#calls;
    const config = { ...this.config };
    const first = before?.state ?? initialState;
    this.state = frozenOrCopied(first);
    this.#calls.clear();
    this.#places.clear();
    for (const map of [steers, terms, ends, this.#roots]) map.clear();
    this.turn = undefined;
    this.hasLateResult = false;
    this.occupant = undefined;
    this.#lastStream = '';
    this.shared = noState;
    if (before) this.#begin(before);
    for (const event of events) {
      this.apply(event);
      if (event.actions.rewound) this.#calls.restart(lost.get(event.seq) ?? []);
    }
    this.shared = shared;
    this.totalUsage = totalUsage;
    this.#calls.answers = answers;
    this.#calls.total = total;
    this.#configure(Object.fromEntries(Object.keys(this.config).map((key) => [key, null])));
    this.#configure(config);
  }

  /** The root of the agents that a turn was begun with: others do not go on with it. Of the turns in `terms`. */
  rootOf(turnId: string): string | undefined {
    return this.#roots.get(turnId);
  }

  #openTurn(event: StoredEvent, { start, root = start }: NonNullable<EventActions['turn']>): void {
    this.turn = { id: event.turnId, start, seq: event.seq, llmCalls: 0, usage: {}, activeMs: 0 };
    if (event.actions.trace) this.turn.trace = event.actions.trace;
    this.occupant = start;
    this.hasLateResult = false;
    this.#places.forget(this.open);
    this.#calls.closeSettled();
    for (const map of [this.terms, this.#roots])
      for (const turnId of map.keys()) if (!this.#calls.hasOpenOf(turnId)) map.delete(turnId);
    this.#roots.set(event.turnId, root);
  }

  #reopen(): void {
    if (!this.turn) return;
    delete this.turn.ended;
    this.turn.llmCalls = 0;
    this.turn.activeMs = 0;
    this.turn.usage = {};
    this.#places.rebase();
  }

  /** Time passes inside a stream; between streams, and while a person is asked, it is free. */
  #clock(event: StoredEvent): void {
    if (this.turn && event.streamId !== '' && event.streamId === this.#lastStream && !event.actions.answers) {
      this.turn.activeMs += Math.max(0, event.timestamp - this.#lastTime);
    }
    this.#lastTime = event.timestamp;
    this.#lastStream = event.streamId;
  }

  /** @param only what of it is applied; default: all */
  #applyState(delta: Readonly<Record<string, unknown>>, only?: 'shared'): void {
    for (const key in delta) {
      const name = scopeOf(key) === 'session' ? 'state' : 'shared';
      if (only !== undefined && name !== only) continue;
      const own = Object.isFrozen(this[name]) ? { ...this[name] } : this[name];
      applyDelta(own, { [key]: delta[key] });
      this[name] = own;
    }
  }

  /** The call that a request id belongs to: its own, or that of one of its questions. */
  callOf(requestId: string): CallState | undefined {
    return this.#calls.of(requestId);
  }

  #configure(update: Record<string, unknown>): void {
    const config: Record<string, unknown> = { ...this.config };
    for (const [key, value] of Object.entries(update)) {
      if (value === null) delete config[key];
      else if (value !== undefined) config[key] = value;
    }
    this.config = config;
  }

  #applyContent(event: StoredEvent, content: Content): void {
    const activation = this.activation(event.path);
    if (event.author !== 'user') {
      activation.own.push(event);
      if ((event.path === '' || rootSlot.test(event.path)) && event.iso === undefined) this.occupant = event.author;
    } else if (event.iso === event.path) {
      activation.input = true;
      const call = this.#calls.changed(event.path.slice(event.path.lastIndexOf('/') + 1));
      if (call) call.entered = true;
    }
    if (content.role === 'model') this.#applyModelContent(event, content.parts, activation);
    else {
      for (const part of content.parts) if (part.type === 'function_response') this.#settle(event, part);
    }
  }

  #applyModelContent(event: StoredEvent, parts: readonly ContentPart[], activation: Activation): void {
    if (event.actions.hook === 'after') {
      // Words after the end: what the agent's own last step asked for still counts.
      this.#places.speak(event, parts);
      return;
    }
    if (event.actions.hook === 'before') activation.replaced = true;
    activation.steps++;
    // Text that an abort cut off is no answer: a turn that goes on asks again.
    activation.final = !event.interrupted;
    activation.batch = this.#calls.ask(event, parts);
    if (activation.batch.length > 0) activation.final = false;
    if (event.model !== undefined && this.turn) this.turn.llmCalls++;
    if (activation.final) this.#places.speak(event, parts);
  }

  #settle(event: StoredEvent, part: FunctionResponsePart): void {
    const call = this.#calls.settle(event, part);
    if (!call) return;
    const isGivenUp = part.errorType === 'interrupted' || part.errorType === 'cancelled';
    if (call.longRunning && this.turn?.ended !== undefined && !isGivenUp) this.hasLateResult = true;
    if (this.turn && call.turnId !== this.turn.id) this.#calls.close(call);
  }

  #addUsage(usage: Usage): void {
    this.totalUsage = addUsage(this.totalUsage, usage);
    if (this.turn) this.turn.usage = addUsage(this.turn.usage, usage);
  }
}
