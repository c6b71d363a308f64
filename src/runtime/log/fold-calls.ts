import { LazyMap, LazySet, Pace } from '../../base/index.ts';
import type { ContentPart, FunctionResponsePart } from '../../contracts/index.ts';
import { callIdOf, isHostQuestion } from '../../session/index.ts';
import type { CallState, Settled } from './call-state.ts';
import { callTurns, newCall } from './call-state.ts';
import type { StoredAnswer, StoredEvent } from './event.ts';
import type { FoldState } from './fold-state.ts';

/** The calls of a log, as far as it has come: asked for, decided, started, answered, closed. A part of the `Fold`. */
export class FoldedCalls {
  /** Of the newest turn, and those of earlier ones that are open still. */
  readonly known = new LazyMap<string, CallState>();
  /** Calls without a response, oldest first. */
  readonly open = new LazyMap<string, CallState>();
  /** How calls of earlier turns were closed. */
  readonly closed = new LazyMap<string, Settled>();
  /** Events that a rewind has cut. */
  readonly cutIds = new LazySet<string>();
  /** Counts decisions and answers. */
  answers = 0;
  total = 0;
  /** Calls of large events that were made before these are taken in. */
  #made: WeakMap<StoredEvent, CallState[]> | undefined;

  begin({ answers, totalCalls, cutIds }: FoldState): void {
    for (const id of cutIds) this.cutIds.add(id);
    this.answers = answers;
    this.total = totalCalls;
  }

  /** Takes what a fold of earlier events knows of calls that are over. */
  precede(older: FoldedCalls): void {
    for (const [id, settled] of older.closed) if (!this.closed.has(id)) this.closed.set(id, settled);
    for (const { id, settled } of older.known.values())
      if (settled && !this.closed.has(id)) this.closed.set(id, settled);
  }

  /** A new turn: of calls that are settled only how they were closed is kept. */
  closeSettled(): void {
    for (const call of this.known.values()) {
      if (!call.settled) continue;
      this.closed.set(call.id, call.settled);
      this.known.delete(call.id);
    }
  }

  hasOpenOf(turnId: string): boolean {
    for (const call of this.open.values()) if (call.turnId === turnId) return true;
    return false;
  }

  /** Makes the calls of a large event in pieces: what is left of taking it in is short. Nothing is told by it yet. */
  async prepare(event: StoredEvent): Promise<void> {
    const pace = new Pace();
    const calls: CallState[] = [];
    for (const call of callsOf(event, this.cutIds)) {
      calls.push(call);
      const rest = pace.rest();
      if (rest) await rest;
    }
    this.#made ??= new WeakMap();
    this.#made.set(event, calls);
  }

  /** The calls that a model's answer asks for; they are open from now on. */
  ask(event: StoredEvent, parts: readonly ContentPart[]): CallState[] {
    const calls = this.#made?.get(event) ?? (hasCalls(parts) ? [...callsOf(event, this.cutIds)] : []);
    for (const call of calls) {
      this.known.set(call.id, call);
      this.open.set(call.id, call);
      this.total++;
    }
    return calls;
  }

  /** Takes in what an event says of calls beside its content. */
  apply(event: StoredEvent): void {
    const { actions } = event;
    for (const [id, decision] of entriesOf(actions.decisions)) {
      const call = this.changed(id);
      if (call) {
        call.decision = decision;
        call.decidedAt = callTurns(call);
      }
      this.answers++;
    }
    for (const id of actions.started ?? []) {
      const call = this.known.get(id);
      if (call) start(call, actions.startedIn);
    }
    for (const ask of actions.asks ?? []) {
      const call = this.changed(ask.callId);
      if (!call) continue;
      call.asks.push({ ...ask, requestedAt: event.timestamp, attempt: call.attempts });
      // A handler that ends with a question has been heard of: its outcome is known.
      if (ask.kind !== 'rerun_unknown') call.started = false;
    }
    for (const question of actions.questions ?? []) {
      const call = this.changed(this.of(question.requestId)?.id ?? '');
      if (call) call.questions = [...(call.questions ?? []), question];
    }
    for (const [requestId, answer] of entriesOf(actions.answers)) this.#answer(requestId, answer);
    for (const [id, interim] of entriesOf(actions.interim)) {
      const call = this.changed(id);
      if (!call) continue;
      call.interim = interim;
      call.started = false;
    }
  }

  /** A response: closes its call. Undefined: there is no such call, or it is closed already. */
  settle(event: StoredEvent, part: FunctionResponsePart): CallState | undefined {
    const call = this.changed(part.id);
    if (!call || call.settled) return undefined;
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
    return call;
  }

  /** A call of an earlier turn that is settled. */
  close({ id, settled }: CallState): void {
    if (settled) this.closed.set(id, settled);
    this.known.delete(id);
  }

  /** Counts what an event has of calls, decisions and answers. It is not applied. */
  count({ actions, content }: StoredEvent): void {
    const { decisions, answers, steer, hook } = actions;
    this.answers += entriesOf(decisions).length + entriesOf(answers).length;
    if (steer || hook === 'after' || content?.role !== 'model') return;
    for (const { type } of content.parts) if (type === 'function_call') this.total++;
  }

  /** Of events that a rewind has cut: a call that is open again and was started in one of them has an unknown outcome. */
  restart(events: readonly StoredEvent[]): void {
    for (const { actions } of events.toSorted((a, b) => a.seq - b.seq)) {
      for (const started of actions.started ?? []) {
        const call = this.open.get(started);
        if (call) start(call, actions.startedIn);
      }
    }
  }

  clear(): void {
    for (const map of [this.known, this.open, this.closed]) map.clear();
  }

  /** The call that a request id belongs to: its own, or that of one of its questions. */
  of(requestId: string): CallState | undefined {
    return this.known.get(requestId) ?? this.known.get(callIdOf(requestId));
  }

  /** A call that is about to change. */
  changed(id: string): CallState | undefined {
    const call = this.known.get(id);
    if (call) call.version++;
    return call;
  }

  #answer(requestId: string, answer: StoredAnswer): void {
    this.answers++;
    const call = this.changed(this.of(requestId)?.id ?? '');
    if (!call) return;
    if (isHostQuestion(requestId)) {
      call.hostAnswers.push({ ...answer, requestId, attempt: call.attempts });
      return;
    }
    const ask = call.asks.find((candidate) => candidate.requestId === requestId);
    if (ask) ask.answer = answer;
  }
}

function hasCalls(parts: readonly ContentPart[]): boolean {
  for (const { type } of parts) if (type === 'function_call') return true;
  return false;
}

/** Calls as the model has just made them. */
function* callsOf(event: StoredEvent, cutIds: CallState['cutIds']): Generator<CallState> {
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
