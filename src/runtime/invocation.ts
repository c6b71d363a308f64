import type {
  Content,
  ContentPart,
  MessageInput,
  PermissionMode,
  PolicyEvaluator,
  Principal,
  SessionInput,
  ToolDescriptor,
  ToolUpdate,
  TurnTerms,
} from '../contracts/index.ts';
import { CoxswainError, copyJson, isCoxswainError, messageOf } from '../contracts/index.ts';
import { checkContent, LazyMap, LazySet } from '../session/index.ts';
import type { Agent, AgentTree } from './agent.ts';
import { asModel } from './agent-hooks.ts';
import { abandoned, answerEvent, answerId, responseEvent } from './answers.ts';
import type { AgentContext, Place } from './context.ts';
import { keepCredential } from './credentials.ts';
import { runDetachedCalls } from './detached.ts';
import type { BeganRecord, CompletedRecord, Event, EventInit } from './event.ts';
import { createEvent } from './event.ts';
import type { CallState, Fold } from './fold.ts';
import { newId } from './identity.ts';
import type { InvocationInfo } from './invocation-info.ts';
import type { TurnLimits } from './limits.ts';
import type { LiveSession } from './live-session.ts';
import type { Model } from './model.ts';
import type { Failure, Outcome } from './outcome.ts';
import { DONE, SUSPENDED } from './outcome.ts';
import type { Plugin } from './plugin.ts';
import type { ContextServices } from './services.ts';
import type { Lease, SessionKey, SessionService } from './session-service.ts';
import { runSlot } from './slot.ts';
import { applyDelta, scopeOf, setTemp, storedDelta } from './state.ts';
import type { Telemetry } from './telemetry.ts';
import { startingAgent } from './transfer.ts';

/** Where a run's events go. */
export interface RunSink {
  /** The inputs were accepted; what follows are events. */
  accepted(): void;
  /** A stored event, in `seq` order. */
  event(event: Event): void;
  /** A piece of a message that is being made. */
  delta(context: AgentContext, messageId: string, part: number, delta: ContentPart): void;
  toolUpdate(context: AgentContext, callId: string, update: ToolUpdate): void;
  /** What a producer waits for; undefined: go on. */
  room(partial: boolean): Promise<void> | undefined;
  /** The consumer is gone or the run is to end: nobody waits any more. */
  release(): void;
}

/** What a run is made of, the same for all runs of a session. */
export interface Engine {
  readonly tree: AgentTree;
  readonly plugins: readonly Plugin[];
  readonly policy?: PolicyEvaluator | undefined;
  readonly principal?: Principal | undefined;
  /** Finds a model by name. */
  readonly models?: ((name: string) => Model | undefined) | undefined;
  readonly toolConcurrency: number;
  /** Milliseconds, for tools that set none of their own. */
  readonly toolTimeoutMs?: number | undefined;
  readonly services: ContextServices;
  readonly limits: TurnLimits;
  /** Where spans go; plain subscribers need none. */
  readonly telemetry?: Telemetry | undefined;
  /** Told of what went wrong without consequence for the run. */
  warn(message: string, error?: unknown): void;
  /** For tests: replay without recorded outcomes. */
  readonly ignoreCompleted?: boolean;
}

export interface InvocationOptions {
  streamId?: string | undefined;
  tools?: readonly ToolDescriptor[] | undefined;
  excludeTools?: readonly string[] | undefined;
  model?: string | undefined;
  hostToolExecution?: boolean | undefined;
  streaming?: boolean | undefined;
  permissionMode?: PermissionMode | undefined;
  whilePending?: 'cancel' | 'hold' | 'proceed' | undefined;
  limits?: TurnLimits | undefined;
  signal?: AbortSignal | undefined;
  deps?: unknown;
  terms?: TurnTerms | undefined;
}

/** How a run ended; `input_required` is derived and not stored, everything else ends the turn. */
export interface InvocationResult {
  reason: string;
  failure?: Failure;
  escalate?: boolean;
  /** The stored end; absent when something is open. */
  end?: Event;
}

/** One run: from the acceptance of its inputs to the end of its stream. */
export class Invocation implements InvocationInfo {
  readonly invocationId: string = newId();
  readonly streamId: string;
  readonly session: LiveSession;
  readonly engine: Engine;
  readonly options: InvocationOptions;
  readonly sink: RunSink;
  readonly signal: AbortSignal;
  /** Uncommitted `temp:` state by agent-as-tool path; '' for the session's own. */
  readonly temp = new LazyMap<string, Record<string, unknown>>();
  /** Calls whose handlers run in this process now. */
  readonly running = new LazyMap<string, { cancel(reason: unknown): void }>();
  /** Model calls that have not answered yet. */
  modelCalls = 0;
  /** Nothing that comes now can reach the turn any more. */
  closing = false;
  readonly #controller = new AbortController();
  readonly #reservations = new LazySet<Promise<unknown>>();
  readonly #branches = new LazyMap<string, (reason: unknown) => void>();
  readonly #completed: CompletedRecord[] = [];
  readonly #began: BeganRecord[] = [];
  readonly #entered: string[] = [];
  readonly #exited: string[] = [];
  readonly #hooked = new LazySet<string>();
  readonly #eventHooks: readonly Plugin[];
  #lease: Lease | undefined;

  constructor(session: LiveSession, engine: Engine, options: InvocationOptions, sink: RunSink) {
    this.session = session;
    this.engine = engine;
    this.options = options;
    this.sink = sink;
    this.streamId = options.streamId ?? newId();
    this.signal = this.#controller.signal;
    this.#eventHooks = engine.plugins.filter((plugin) => plugin.onEvent);
  }

  get fold(): Fold {
    return this.session.fold;
  }
  get tree(): AgentTree {
    return this.engine.tree;
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
  get turnId(): string {
    return this.fold.turn?.id ?? '';
  }
  get sessions(): SessionService {
    return this.session.service;
  }
  get deps(): unknown {
    return this.options.deps;
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
    const lease = await this.session.service.acquire(this.key);
    this.#lease = lease;
    const outer = this.options.signal;
    const follow = () => this.abort(outer?.reason);
    let forget = () => {};
    try {
      if (lease.lastSeq > this.fold.at) await this.session.catchUp();
      this.fold.shared = { ...lease.shared };
      const accepted = await this.#accept(inputs);
      this.sink.accepted();
      // From here on: what others wrote before this stream is not a part of it.
      forget = this.session.listen((event) => this.sink.event(event));
      if (accepted.length > 0) await this.#commit(accepted);
      if (outer?.aborted) follow();
      else outer?.addEventListener('abort', follow, { once: true });
      const room = accepted.length > 0 ? this.sink.room(false) : undefined;
      if (room) await room;
      const outcome = await this.#enter(inputs.some((input) => input.kind === 'message'));
      return await this.#finish(outcome);
    } finally {
      this.closing = true;
      outer?.removeEventListener('abort', follow);
      forget();
      await lease.release();
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
    const done = () => void this.#reservations.delete(work);
    work.then(done, done);
  }

  async reservations(): Promise<void> {
    while (this.#reservations.size > 0) await Promise.allSettled(this.#reservations);
  }

  /** A parallel branch that can be ended by itself. */
  branch(threadId: string, stop: (reason: unknown) => void): () => void {
    this.#branches.set(threadId, stop);
    return () => this.#branches.delete(threadId);
  }

  abortBranch(threadId: string, reason: unknown): boolean {
    const stop = this.#branches.get(threadId);
    stop?.(reason);
    return stop !== undefined;
  }

  event(place: Place, init: EventInit): Event {
    const { stateDelta } = init.actions ?? {};
    if (stateDelta) this.#keepTemp(place, stateDelta);
    return createEvent({
      turnId: this.turnId,
      invocationId: this.invocationId,
      streamId: this.streamId,
      path: place.path,
      ...(place.branch === undefined ? {} : { branch: place.branch }),
      ...(place.iso[0] === undefined ? {} : { iso: place.iso[0] }),
      ...init,
      ...(stateDelta ? { actions: { ...init.actions, stateDelta: storedDelta(stateDelta) } } : {}),
    });
  }

  /** Stores events and shows them; resolves when the consumer has asked for more. */
  async emit(...events: Event[]): Promise<void> {
    const edited = this.#eventHooks.length > 0 ? await Promise.all(events.map((event) => this.#edit(event))) : events;
    await this.#commit(edited);
    const room = this.sink.room(false);
    if (room) await room;
  }

  /** A slot has ended: recorded with the next event. */
  completed(path: string, agent: string, outcome: Outcome): void {
    if (this.engine.ignoreCompleted) return;
    this.#completed.push({ path, agent, outcome });
  }

  /** A child begins, or an iteration of a loop: told once, with the next event. */
  began(record: BeganRecord): void {
    const { path, iteration } = record;
    const known = this.fold.activations.get(path);
    const name = `began:${path}:${iteration ?? ''}`;
    if (iteration === undefined ? known?.began : (known?.iteration ?? -1) >= iteration) return;
    if (this.#hooked.has(name)) return;
    this.#hooked.add(name);
    this.#began.push(record);
  }

  /** Hooks of an activation have run: recorded with the next event. */
  hooksRan(path: string, point: 'entered' | 'exited'): void {
    (point === 'entered' ? this.#entered : this.#exited).push(path);
    this.#hooked.add(`${point}:${path}`);
  }

  haveHooksRun(path: string, point: 'entered' | 'exited'): boolean {
    return this.fold.activation(path)[point] || this.#hooked.has(`${point}:${path}`);
  }

  origin(): { streamId: string; invocationId: string } {
    return { streamId: this.streamId, invocationId: this.invocationId };
  }

  #commit(events: Event[]): Promise<void> {
    const first = events[0];
    if (!first) return Promise.resolve();
    if (this.#completed.length > 0) first.actions.completed = this.#completed.splice(0);
    if (this.#began.length > 0) first.actions.began = this.#began.splice(0);
    if (this.#entered.length > 0)
      first.actions.entered = [...(first.actions.entered ?? []), ...this.#entered.splice(0)];
    if (this.#exited.length > 0) first.actions.exited = [...(first.actions.exited ?? []), ...this.#exited.splice(0)];
    return this.session.commit(events, this.#lease?.epoch ?? 0);
  }

  async #edit(event: Event): Promise<Event> {
    for (const plugin of this.#eventHooks) {
      const replaced = await plugin.onEvent?.(this, event);
      if (!replaced) continue;
      // Identity, place and marks are the runtime's: an edited event still stands where it stood.
      const { id, seq, turnId, invocationId, streamId, path, author, timestamp, partial, branch, iso } = event;
      const { branch: _, iso: __, ...edited } = replaced;
      return {
        ...edited,
        ...{ id, seq, turnId, invocationId, streamId, path, author, timestamp, partial },
        ...(branch === undefined ? {} : { branch }),
        ...(iso === undefined ? {} : { iso }),
        actions: { ...event.actions, ...replaced.actions },
      };
    }
    return event;
  }

  /** The end of a turn is written, whatever hooks do. */
  async #editSafely(event: Event): Promise<Event> {
    try {
      return await this.#edit(event);
    } catch (error) {
      this.engine.warn('an on_event hook failed', error);
      return event;
    }
  }

  #keepTemp(place: Place, delta: Readonly<Record<string, unknown>>): void {
    for (const key of Object.keys(delta)) {
      if (scopeOf(key) === 'temp') setTemp(this.temp, place.iso[0] ?? '', key, delta[key]);
    }
  }

  /** Turns inputs into events, or refuses them all. */
  async #accept(inputs: readonly SessionInput[]): Promise<Event[]> {
    const { fold } = this;
    const events: Event[] = [];
    const answered = new Set<string>();
    let resumesLongRunning = false;
    for (const input of inputs) {
      if (input.kind === 'message' || input.kind === 'continue') continue;
      if (answered.has(input.requestId)) throw twice(input.requestId);
      answered.add(input.requestId);
      const event = this.#answer(input);
      if (input.kind === 'elicitation_response') await this.#keepCredential(input.requestId, input.response);
      if (input.kind === 'tool_result' && fold.calls.get(input.requestId)?.longRunning) resumesLongRunning = true;
      events.push(event);
    }
    const message = inputs.find((input): input is MessageInput => input.kind === 'message');
    if (message) {
      events.push(...(await this.#openTurn(message, answered)));
      return events;
    }
    if (!fold.turn) {
      throw new CoxswainError('FAILED_PRECONDITION', 'E_NO_TURN', 'there is no turn to continue; send a message');
    }
    const { terms } = this.options;
    if (fold.turn.ended === undefined) {
      if (terms) events.unshift(this.#rootEvent({ author: 'user', actions: { terms } }));
      return events;
    }
    if (resumesLongRunning || (events.length > 0 && fold.turn.ended === 'completed')) {
      // The new turn comes first: it is told what the long-running call came to.
      events.unshift(this.#turnEvent([], undefined));
    } else if (fold.turn.ended === 'completed' || fold.turn.ended === 'refusal') {
      throw new CoxswainError('FAILED_PRECONDITION', 'E_TURN_COMPLETED', 'the turn is complete; send a message');
    } else {
      events.push(this.#rootEvent({ author: 'user', actions: { reopened: true, ...(terms ? { terms } : {}) } }));
    }
    return events;
  }

  #answer(input: Exclude<SessionInput, { kind: 'message' | 'continue' }>): Event {
    const origin = { ...this.origin(), starts: true, rerun: input.kind === 'tool_approval' && input.rerun === true };
    switch (input.kind) {
      case 'tool_result': {
        if (this.running.has(input.requestId)) throw twice(input.requestId);
        const { requestId, result, decision } = input;
        const event = answerEvent(
          this.fold,
          requestId,
          { kind: 'result', result, ...(decision ? { decision } : {}) },
          origin,
        );
        const call = this.fold.calls.get(requestId);
        return input.interim && call ? interimOf(event, call) : event;
      }
      case 'tool_approval': {
        const { requestId, args, by, decision, previewDigest } = input;
        const event = answerEvent(
          this.fold,
          requestId,
          {
            kind: 'approve',
            ...(args ? { args } : {}),
            ...(by ? { by } : {}),
            ...(previewDigest === undefined ? {} : { previewDigest }),
          },
          origin,
        );
        const callId = this.fold.callOf(requestId)?.id;
        if (decision && callId !== undefined && event.actions.decisions) event.actions.decisions[callId] = decision;
        return event;
      }
      default: {
        const { requestId, response, by } = input;
        return answerEvent(this.fold, requestId, { kind: 'elicitation', ...response, ...(by ? { by } : {}) }, origin);
      }
    }
  }

  async #keepCredential(
    requestId: string,
    response: { action: string; content?: Record<string, unknown> | undefined },
  ) {
    const call = this.fold.callOf(requestId);
    const ask = call?.asks.find((candidate) => candidate.requestId === requestId);
    if (call && ask) await keepCredential(this.services, ask, call.name, response);
  }

  async #openTurn(message: MessageInput, answered: ReadonlySet<string>): Promise<Event[]> {
    const { fold } = this;
    const open = [...fold.open.values()].filter((call) => !answered.has(call.id) && !call.longRunning);
    const policy = this.options.whilePending ?? 'cancel';
    if (open.length > 0 && policy === 'hold') {
      const ids = open.map((call) => call.id).join(', ');
      throw new CoxswainError('FAILED_PRECONDITION', 'E_INPUT_REQUIRED', `answer first: ${ids}; or abort the turn`);
    }
    const events = policy === 'proceed' ? [] : this.#settle(open, 'a new message came');
    let content: Content = { role: 'user', parts: checkContent(message.content) };
    for (const plugin of this.engine.plugins) {
      const replaced = await this.#failClosed(`${plugin.name}.onUserMessage`, () =>
        plugin.onUserMessage?.(this, content),
      );
      if (!replaced) continue;
      content = { role: 'user', parts: copyJson(replaced.parts, `${plugin.name}.onUserMessage`) };
      break;
    }
    events.push(this.#turnEvent(content.parts, message.role));
    return events;
  }

  #turnEvent(parts: ContentPart[], role: string | undefined): Event {
    const start = startingAgent(this.tree, this.fold).name;
    // Words that came too late for their turn belong to the next one and stand before its message.
    const late = [...this.fold.steers.keys()];
    // One that nobody begins with a message goes on with what the turn before it was held to.
    const terms = this.options.terms ?? (parts.length > 0 ? undefined : this.fold.terms.get(this.turnId));
    return createEvent({
      ...this.origin(),
      turnId: newId(),
      author: 'user',
      ...(parts.length > 0 ? { content: { role: 'user', parts } } : {}),
      ...(role === 'developer' ? { customMetadata: { role } } : {}),
      actions: {
        turn: { start },
        ...(terms ? { terms } : {}),
        ...(late.length > 0 ? { delivered: late } : {}),
      },
    });
  }

  #rootEvent(init: EventInit): Event {
    return createEvent({ ...this.origin(), turnId: this.turnId, ...init });
  }

  #settle(calls: Iterable<CallState>, why: string): Event[] {
    // Leaf first: what was asked last is closed first.
    return [...calls].reverse().map((call) => responseEvent(call, abandoned(call, why), this.origin()));
  }

  /** Enters the root slot until nothing moves any more. */
  async #enter(isMessage: boolean): Promise<Outcome> {
    try {
      const replaced = isMessage ? await this.#beforeRun() : undefined;
      if (replaced) return replaced;
      const root = this.tree.find(this.fold.turn?.start ?? '') ?? this.tree.root;
      for (;;) {
        const seen = this.fold.answers;
        const steers = this.fold.steers.size;
        await runDetachedCalls(this);
        const outcome = await this.#runRoot(root);
        if (this.signal.aborted) return outcome;
        await this.reservations();
        if (outcome.kind === 'suspended') {
          // Answers of other processes, and those that came while other tools ran.
          await this.session.catchUp();
          if (this.fold.answers !== seen || this.#reservations.size > 0) continue;
        } else if (outcome.kind === 'done' && this.fold.steers.size > 0 && this.fold.steers.size !== steers) {
          continue;
        }
        this.closing = true;
        return outcome;
      }
    } catch (error) {
      if (this.signal.aborted) return SUSPENDED;
      return { kind: 'failed', failure: failureOf(error) };
    }
  }

  /** What a child throws is its failure: siblings are stopped, and an agent run as a tool fails its call alone. */
  async runSlot(agent: Agent, place: Place): Promise<Outcome> {
    try {
      return await runSlot(this, agent, place);
    } catch (error) {
      return place.signal.aborted ? SUSPENDED : { kind: 'failed', failure: failureOf(error) };
    }
  }

  #runRoot(root: Agent): Promise<Outcome> {
    return runSlot(this, root, {
      path: '',
      iso: [],
      agentPath: this.tree.pathOf(root).slice(0, -1),
      tree: this.tree,
      signal: this.signal,
    });
  }

  async #beforeRun(): Promise<Outcome | undefined> {
    for (const plugin of this.engine.plugins) {
      const content = await this.#failClosed(`${plugin.name}.beforeRun`, () => plugin.beforeRun?.(this));
      if (!content) continue;
      const author = this.fold.turn?.start ?? this.tree.root.name;
      await this.emit(this.#rootEvent({ author, content: asModel(content) }));
      return DONE;
    }
    return undefined;
  }

  /** Settles what is open, ends the turn, tells the plugins. */
  async #finish(outcome: Outcome): Promise<InvocationResult> {
    this.closing = true;
    let result: InvocationResult;
    if (this.signal.aborted)
      result = await this.#end({ reason: limitReason(this.signal.reason) ?? 'aborted' }, outcome);
    else if (outcome.kind === 'failed') {
      result = await this.#end({ reason: outcome.failure.reason, failure: outcome.failure }, outcome);
    } else if (outcome.kind === 'suspended') result = { reason: 'input_required' };
    else result = await this.#end({ reason: 'completed', ...(outcome.escalate ? { escalate: true } : {}) }, outcome);
    for (const plugin of this.engine.plugins) {
      try {
        await plugin.afterRun?.(this);
      } catch (error) {
        this.engine.warn(`${plugin.name}.afterRun failed`, error);
      }
    }
    return result;
  }

  async #end(result: InvocationResult, outcome: Outcome): Promise<InvocationResult> {
    for (;;) {
      const { at } = this.fold;
      try {
        return await this.#writeEnd(result, outcome);
      } catch (error) {
        if (!isCoxswainError(error) || error.code !== 'E_EVENT_EXISTS') throw error;
        // Somebody else has answered one of the open calls in between.
        await this.session.catchUp();
        if (this.fold.at === at) throw error;
      }
    }
  }

  async #writeEnd(result: InvocationResult, outcome: Outcome): Promise<InvocationResult> {
    const open = this.fold.open.values();
    const abandonedCalls =
      outcome.kind === 'done' && !this.signal.aborted
        ? []
        : [...open].filter((call) => this.signal.aborted || !call.longRunning);
    const events = this.#settle(
      abandonedCalls,
      result.reason === 'aborted' ? 'aborted' : `the turn ended: ${result.reason}`,
    );
    const author = this.fold.occupant ?? this.tree.root.name;
    const failure =
      result.failure ??
      (this.signal.aborted && result.reason !== 'aborted' ? failureOf(this.signal.reason) : undefined);
    if (failure && failure.code !== '') events.push(this.#rootEvent({ author, ...errorFields(failure) }));
    const data = {
      ...(result.escalate ? { escalateReason: 'escalate' } : {}),
      ...(failure ? { reason: failure.message } : {}),
    };
    const end = { reason: result.reason, ...(Object.keys(data).length > 0 ? { data } : {}) };
    events.push(this.#rootEvent({ author, actions: { end } }));
    const shown = await Promise.all(events.map((event) => this.#editSafely(event)));
    await this.#commit(shown);
    const last = shown.at(-1);
    const stored = this.session.log.findLast(({ id }) => id === last?.id);
    return { ...result, ...(failure ? { failure } : {}), ...(stored ? { end: stored } : {}) };
  }

  /** A hook that must not be skipped by failing. */
  async #failClosed<T>(name: string, hook: () => T | Promise<T>): Promise<T> {
    try {
      return await hook();
    } catch (error) {
      throw new CoxswainError('INTERNAL', 'E_HOOK_FAILED', `${name} failed: ${messageOf(error)}`, { cause: error });
    }
  }
}

function interimOf(event: Event, call: CallState): Event {
  const part = event.content?.parts[0];
  const response = part?.type === 'function_response' ? part.response : {};
  const { content: _, ...rest } = event;
  const id = answerId(call, `int:${call.id}`);
  return { ...rest, id, actions: { ...event.actions, interim: { [call.id]: response } } };
}

function twice(requestId: string): CoxswainError {
  return new CoxswainError(
    'FAILED_PRECONDITION',
    'E_REQUEST_CLOSED',
    `request ${JSON.stringify(requestId)} is answered twice`,
  );
}

function textOf(reason: unknown): string {
  if (reason === undefined) return 'aborted';
  return messageOf(reason);
}

const limitCodes: Record<string, string> = {
  E_MAX_TIME: 'max_time',
  E_MAX_BUDGET: 'max_budget',
  E_MAX_LLM_CALLS: 'max_turns',
  E_REFUSED: 'refusal',
};

/** An abort by a limit ends the turn with the limit's reason. */
function limitReason(reason: unknown): string | undefined {
  return isCoxswainError(reason) ? limitCodes[reason.code] : undefined;
}

function errorFields(failure: Failure): Partial<Event> {
  const { code, message, status, fatal, retryable, details } = failure;
  return {
    errorCode: code,
    errorMessage: message,
    error: { status, fatal, retryable, ...(details ? { details } : {}) },
  };
}

/** What was thrown, as a failure of the turn. */
export function failureOf(error: unknown): Failure {
  if (isCoxswainError(error)) {
    const { status, code, message, retryable, details } = error;
    const reason = limitReason(error);
    return {
      reason: reason ?? 'failed',
      status,
      code,
      message,
      fatal: reason === undefined,
      retryable,
      ...(details ? { details } : {}),
    };
  }
  return {
    reason: 'failed',
    status: 'INTERNAL',
    code: 'E_INTERNAL',
    message: messageOf(error),
    fatal: true,
    retryable: false,
  };
}
