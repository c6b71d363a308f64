import { Bell } from '../../base/index.ts';
import type {
  AgentEvent,
  CoxswainError,
  Limits,
  Principal,
  ReportedRequest,
  SessionInput,
  StreamEndEvent,
  TelemetrySpan,
  TurnTerms,
  Usage,
} from '../../contracts/index.ts';
import { isCoxswainError, messageOf } from '../../contracts/index.ts';
import type { EventStream, HoldOptions, JoiningOptions } from '../../session/index.ts';
import { begins, endTurn, isPipeable, joined } from '../../session/index.ts';
import type { CalledStream, CallersStream, Hosted } from '../frame/index.ts';
import { closedByOthers, onAbort } from '../questions/index.ts';
import type { Budget, BusyClock, HeldTo } from '../terms/index.ts';
import { budgetOf, startClock } from '../terms/index.ts';
import { BesideInner } from './beside-inner.ts';
import { excludedTools, innerOptions } from './inner-options.ts';
import { runInner } from './inner-stream.ts';
import { tellEnded } from './outlived-calls.ts';
import { hostError } from './run-base.ts';
import { RunCalls } from './run-calls.ts';
import { RunHold } from './run-hold.ts';
import type { LoopingRun } from './run-loop.ts';
import { runToEnd } from './run-loop.ts';
import { RunQuestions } from './run-questions.ts';
import { passUserMessages } from './user-message.ts';

/** One stream of a hosted session, as its session, its sub-agents and its parts use it; what it does is in `run-loop.ts`. */
export class HostedRun implements LoopingRun, CallersStream {
  readonly session: Hosted;
  readonly options: JoiningOptions & { streamId: string };
  readonly span: TelemetrySpan | undefined;
  readonly hold: RunHold;
  accepted = false;
  /** How the stream ended; `failed` where it was refused. */
  reason = 'failed';
  readonly out: EventStream;
  readonly #controller = new AbortController();
  /** Ends the inner stream: once it knows of what has ended here. */
  readonly #ofInner = new AbortController();
  #innerRuns = false;
  readonly #budget: Budget;
  /** Not in the log yet. */
  #terms: TurnTerms | undefined;
  readonly #principal: Principal;
  #excluded: readonly string[] | undefined;
  /** Its calls, once there is one. */
  madeCalls: RunCalls | undefined;
  #madeQuestions: RunQuestions | undefined;
  #inputs: SessionInput[] = [];
  /** What is done beside an inner stream that goes on. */
  #beside: BesideInner | undefined;
  /** The sub-agents of the session, in this stream. */
  called: CalledStream | undefined;
  #clock: BusyClock | undefined;
  /** Ids of what an executor that is not believed had open last. */
  #listed: ReadonlySet<string> | undefined;
  #leave: (() => void) | undefined;
  readonly #bell = new Bell();
  #isOver = false;
  /** It stops where nothing of it runs, and leaves its turn to whoever goes on with it. */
  isLeaving: boolean;
  #ended: PromiseWithResolvers<string> | undefined;

  constructor(
    session: Hosted,
    out: EventStream,
    options: JoiningOptions & { streamId: string },
    { principal, news }: Pick<HeldTo, 'principal' | 'news'>,
    span?: TelemetrySpan,
  ) {
    this.session = session;
    this.out = out;
    this.options = options;
    this.#principal = principal;
    this.#terms = news;
    this.span = span;
    this.hold = new RunHold(session);
    this.isLeaving = options[begins] === true;
    this.#budget = budgetOf(session.descriptor, session.frame.options, options.limits);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get beside(): BesideInner | undefined {
    return this.#beside;
  }

  get below(): CallersStream {
    return this;
  }

  /** Made when there is a call: most streams never have one. */
  get calls(): RunCalls {
    this.madeCalls ??= new RunCalls(this);
    return this.madeCalls;
  }

  get questions(): RunQuestions {
    this.#madeQuestions ??= new RunQuestions(this);
    return this.#madeQuestions;
  }

  push(event: AgentEvent): void {
    this.out.push(event);
  }

  /** Nothing may follow a fatal error; to the caller of a sub-agent it is none. */
  get hasFailed(): boolean {
    return this.out.hasFailed && this.session.frame.depth === 0;
  }

  limits(used: Usage): Limits {
    return this.#budget.ofSubagent(used);
  }

  phase(): 'early' | 'open' | 'over' {
    if (this.hasFailed) return 'over';
    return this.accepted ? 'open' : 'early';
  }

  see(event: AgentEvent): void {
    this.#budget.see(event, true);
  }

  /** What a sub-agent did. */
  show(event: AgentEvent): Promise<void> | undefined {
    this.#spend(event, true);
    this.out.push(event);
    return this.out.room(event.type === 'message' && event.partial === true);
  }

  /** Resolves when nothing more will be written, to how the stream ended. */
  get ended(): Promise<string> {
    if (this.#isOver) return Promise.resolve(this.reason);
    this.#ended ??= Promise.withResolvers();
    return this.#ended.promise;
  }

  /** It is about to run or runs here, or what it came to is on its way into the log. */
  isBusy(callId: string | undefined): boolean {
    return this.madeCalls?.isBusy(callId) ?? false;
  }

  /** Ends one call that runs here. */
  abortCall(requestId: string, reason?: string): boolean {
    return this.madeCalls?.abort(requestId, reason) ?? false;
  }

  /** A call was settled elsewhere: whoever still thinks about it need not. */
  dropCall(callId: string, reason?: string): void {
    this.madeCalls?.drop(callId, reason);
  }

  wake(): void {
    this.#bell.ring();
  }

  abort(reason: CoxswainError): void {
    if (this.#controller.signal.aborted) return;
    this.#controller.abort(reason);
    const { madeCalls } = this;
    madeCalls?.abortAll();
    this.out.release();
    this.wake();
    const end = () => this.#ofInner.abort(reason);
    // It closes what is open.
    if (madeCalls?.mayHaveEnded && this.#innerRuns) void tellEnded(this.session, madeCalls).then(end);
    else end();
  }

  /**
   * How the session is taken: with the message, where nobody is told of that before it is stored; and it is given back
   * with the end of the turn, where nothing of the turn runs then.
   */
  holdOptions(inputs: readonly SessionInput[]): HoldOptions {
    const { hasSubagents, hooks } = this.session.frame;
    const [only] = inputs;
    return {
      withEvents: inputs.length === 1 && only?.kind === 'message' && !hasSubagents && !hooks,
      mayEnd: () => !hasSubagents && (this.madeCalls?.running ?? 0) === 0,
    };
  }

  /** Gets ready: nothing has been sent yet. */
  async open(inputs: SessionInput[]): Promise<void> {
    const { session, options } = this;
    const { signal } = options;
    this.#leave = signal && onAbort(signal, (reason) => this.abort(reason));
    await this.#prepare(inputs);
    this.called = await session.subagents?.begin(inputs, options);
    this.#inputs = await passUserMessages(session, inputs, this.#principal, this.#controller.signal);
  }

  /** The end as the caller sees it, with what its sub-agents have come to. */
  async closed(end: StreamEndEvent): Promise<StreamEndEvent> {
    this.reason = end.reason;
    return this.called ? this.called.finish(end) : end;
  }

  /** Nothing more will be written. */
  over(): void {
    this.#clock?.pause();
    this.#madeQuestions?.end();
    this.#beside?.over();
    this.#leave?.();
    this.madeCalls?.abortAll();
    if (this.span) endTurn(this.span, this.reason);
    this.#isOver = true;
    this.#ended?.resolve(this.reason);
  }

  /** Runs it: see {@link runToEnd}. */
  async toEnd(): Promise<StreamEndEvent> {
    this.#beside = BesideInner.of(this, (batch) => this.sent(batch));
    return runToEnd(this, this.#inputs);
  }

  /** An inner stream has taken these inputs. */
  sent(batch: readonly SessionInput[]): void {
    this.accepted = true;
    this.session.introducedBy ??= 'agent';
    if (this.#terms) this.session.frame.shared.begun = this.#terms;
    this.#terms = undefined;
    this.called?.release(this);
    for (const input of batch) if (input.kind === 'tool_result') this.madeCalls?.stored(input.requestId);
  }

  /** The agent's own end of an aborted run; what was called ends before its call is closed. */
  async abortInner(unsent: readonly SessionInput[]): Promise<StreamEndEvent> {
    await this.session.subagents?.end(messageOf(this.#controller.signal.reason));
    const { madeCalls } = this;
    if (!madeCalls) return this.inner([{ kind: 'continue' }]);
    await madeCalls.endings();
    const results = [...unsent.filter(({ kind }) => kind === 'tool_result'), ...madeCalls.takeAnswers()];
    try {
      return await this.inner([...madeCalls.kept(await this.session.inner.pending(), results), { kind: 'continue' }]);
    } catch (error) {
      // Somebody else has answered one of them in this moment.
      if (results.length === 0 || !isCoxswainError(error) || !closedByOthers.has(error.code)) throw error;
      return this.inner([{ kind: 'continue' }]);
    }
  }

  /** One inner stream, to its end. */
  inner(batch: readonly SessionInput[]): Promise<StreamEndEvent> {
    const { inner } = this.session;
    this.#beside?.begins(batch);
    const options = innerOptions(this.session, this.options, {
      limits: this.#budget.ofAgent(),
      signal: this.#ofInner.signal,
      excluded: this.#excluded,
      terms: this.#terms,
      span: this.span,
    });
    // Somebody must know of each event of an inner stream; else it goes straight to whoever reads.
    const watches = this.#budget.limits.usd !== undefined || this.session.frame.hasSubagents;
    const see = watches ? (event: AgentEvent) => this.#spend(event) : undefined;
    const isIntroduced = this.session.introducedBy === 'host';
    const shown = see || isIntroduced ? { see, isIntroduced } : undefined;
    this.#innerRuns = true;
    return runInner(inner, batch, options, this.out, shown, this.session.frame.warn).finally(() => {
      this.#innerRuns = false;
    });
  }

  /** Counts what an inner stream costs; one that goes on beyond the limit is ended when its next model call speaks. */
  #spend(event: AgentEvent, isBelow = false): void {
    if (event.type === 'usage') this.#budget.see(event, isBelow);
    else if (event.type === 'message' && event.role === 'agent') this.stopIfSpent();
  }

  /** Of an executor that is not believed, what it asks anew counts as a step: it may report no model call at all. */
  listed(open: readonly ReportedRequest[]): void {
    if (isPipeable(this.session.inner)) return;
    const before = this.#listed;
    const asked = open.filter(({ requestId }) => !before?.has(requestId)).length;
    if (asked > 0) this.#budget.sawRound(asked);
    this.#listed = new Set(open.map(({ requestId }) => requestId));
  }

  /** Aborts the run where its budget is spent. */
  stopIfSpent(): void {
    const over = this.#budget.exceeded();
    if (!over || this.#controller.signal.aborted) return;
    // Not a limit's reason of its own: the end would not say why.
    if (over.code === 'E_NO_PRICE') {
      this.out.push(hostError(this, over, false));
    }
    this.abort(over);
  }

  woken(): Promise<void> {
    return this.#bell.rung();
  }

  /** Something has changed that nobody has looked at yet. */
  get isRung(): boolean {
    return this.#bell.isRung;
  }

  /** Waits until something has changed. Time in which nothing runs here is not the turn's. */
  waitForNews(): Promise<void> {
    if (this.calls.running === 0) this.#clock?.pause();
    return this.woken();
  }

  offers(name: string): boolean {
    return !(this.#excluded ?? this.options.excludeTools ?? []).includes(name);
  }

  /** The turn's time runs on. */
  resumeClock(): void {
    this.#clock?.resume();
  }

  async #prepare(inputs: readonly SessionInput[]): Promise<void> {
    const { frame, inner } = this.session;
    this.#excluded = await excludedTools(frame, this.options);
    const goesOn = this.options[joined] !== undefined || !inputs.some((input) => input.kind === 'message');
    if (goesOn && this.#budget.counts(frame.hasSubagents)) await this.#budget.seeTurn(inner.events());
    this.#clock = startClock(this.#budget.limits.minutes, (error) => this.abort(error));
  }
}
