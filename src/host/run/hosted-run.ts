import type {
  AgentEvent,
  CoxswainError,
  Limits,
  PendingRequest,
  SessionInput,
  StreamEndEvent,
  TelemetrySpan,
  TurnTerms,
  Usage,
} from '../../contracts/index.ts';
import { isCoxswainError, messageOf } from '../../contracts/index.ts';
import type { EventStream, HoldOptions, JoiningOptions } from '../../session/index.ts';
import { breath, endTurn, joined, MANY } from '../../session/index.ts';
import type { CalledStream, CallersStream, Hosted } from '../frame/index.ts';
import { closedByOthers, hasClosed, isOver, onAbort } from '../questions/index.ts';
import type { Budget, BusyClock } from '../terms/index.ts';
import { budgetOf, startClock } from '../terms/index.ts';
import { Bell } from './bell.ts';
import { BesideInner } from './beside-inner.ts';
import { excludedTools, innerOptions } from './inner-options.ts';
import { runInner } from './inner-stream.ts';
import { judgeOpen } from './judge-open.ts';
import { runOutlived, runOutliving } from './outlived-calls.ts';
import { Repeats } from './repeats.ts';
import { hostError } from './run-base.ts';
import { RunCalls } from './run-calls.ts';
import { pausedEnd } from './run-end.ts';
import { RunHold } from './run-hold.ts';
import { RunQuestions } from './run-questions.ts';
import type { RunScope } from './run-scope.ts';
import { AT_ONCE, startNow } from './start-now.ts';
import { passUserMessages } from './user-message.ts';

// As it is now: whoever replaces the clock later means to hold time, not runs.
const later = setImmediate;

/** One stream of a hosted session: inner streams, and the gate between them. */
export class HostedRun implements RunScope, CallersStream {
  readonly session: Hosted;
  readonly options: JoiningOptions & { streamId: string };
  readonly span: TelemetrySpan | undefined;
  readonly hold: RunHold;
  accepted = false;
  /** How the stream ended; `failed` where it was refused. */
  reason = 'failed';
  readonly #out: EventStream;
  readonly #controller = new AbortController();
  readonly #budget: Budget;
  /** Not in the log yet. */
  #terms: TurnTerms | undefined;
  #excluded: readonly string[] | undefined;
  readonly #repeats = new Repeats();
  #madeCalls: RunCalls | undefined;
  #madeQuestions: RunQuestions | undefined;
  #inputs: SessionInput[] = [];
  #beside: BesideInner | undefined;
  /** The sub-agents of the session, in this stream. */
  called: CalledStream | undefined;
  #clock: BusyClock | undefined;
  #leave: (() => void) | undefined;
  readonly #bell = new Bell();
  #isOver = false;
  #ended: PromiseWithResolvers<string> | undefined;

  constructor(
    session: Hosted,
    out: EventStream,
    options: JoiningOptions & { streamId: string },
    terms: TurnTerms | undefined,
    span?: TelemetrySpan,
  ) {
    this.session = session;
    this.#out = out;
    this.options = options;
    this.#terms = terms;
    this.span = span;
    this.hold = new RunHold(session);
    this.#budget = budgetOf(session.descriptor, session.frame.options, options.limits);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get below(): CallersStream {
    return this;
  }

  /** Made when there is a call: most streams never have one. */
  get calls(): RunCalls {
    this.#madeCalls ??= new RunCalls(this);
    return this.#madeCalls;
  }

  get questions(): RunQuestions {
    this.#madeQuestions ??= new RunQuestions(this);
    return this.#madeQuestions;
  }

  push(event: AgentEvent): void {
    this.#out.push(event);
  }

  /** Nothing may follow a fatal error; to the caller of a sub-agent it is none. */
  get hasFailed(): boolean {
    return this.#out.hasFailed && this.session.frame.depth === 0;
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
    this.#out.push(event);
    return this.#out.room(event.type === 'message' && event.partial === true);
  }

  /** Resolves when nothing more will be written, to how the stream ended. */
  get ended(): Promise<string> {
    if (this.#isOver) return Promise.resolve(this.reason);
    this.#ended ??= Promise.withResolvers();
    return this.#ended.promise;
  }

  /** It is about to run or runs here, or what it came to is on its way into the log. */
  isBusy(callId: string | undefined): boolean {
    return this.#madeCalls?.isBusy(callId) ?? false;
  }

  /** Ends one call that runs here. */
  abortCall(requestId: string, reason?: string): boolean {
    return this.#madeCalls?.abort(requestId, reason) ?? false;
  }

  /** A call was settled elsewhere: whoever still thinks about it need not. */
  dropCall(callId: string, reason?: string): void {
    this.#madeCalls?.drop(callId, reason);
  }

  wake(): void {
    this.#bell.ring();
  }

  abort(reason: CoxswainError): void {
    if (this.#controller.signal.aborted) return;
    this.#controller.abort(reason);
    this.#madeCalls?.abortAll();
    this.#out.release();
    this.wake();
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
      mayEnd: () => !hasSubagents && (this.#madeCalls?.running ?? 0) === 0,
    };
  }

  /** Gets ready: nothing has been sent yet. */
  async open(inputs: SessionInput[]): Promise<void> {
    const { session, options } = this;
    const { signal } = options;
    this.#leave = signal && onAbort(signal, (reason) => this.abort(reason));
    await this.#prepare(inputs);
    this.called = await session.subagents?.begin(inputs, options);
    this.#inputs = await passUserMessages(session, inputs, this.#controller.signal);
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
    this.#madeCalls?.abortAll();
    if (this.span) endTurn(this.span, this.reason);
    this.#isOver = true;
    this.#ended?.resolve(this.reason);
  }

  /** Inner streams one after the other, and between them the gate, until nothing is left that can be done here. */
  async toEnd(): Promise<StreamEndEvent> {
    const { signal } = this.#controller;
    const inputs = this.#inputs;
    const beside = BesideInner.of(this, (batch) => this.#sent(batch));
    this.#beside = beside;
    let batch = inputs;
    /** What the batch is too large for. */
    let rest: SessionInput[] = [];
    let last: StreamEndEvent | undefined;
    let wentOn = false;
    if (inputs.every((input) => input.kind === 'continue')) batch = (await runOutlived(this)) ?? inputs;
    for (;;) {
      let end: StreamEndEvent | undefined;
      let wasAnswered = false;
      try {
        end = await this.#inner(batch);
        this.#sent(batch);
      } catch (error) {
        // Somebody else was faster with one of these answers; none of them was taken.
        if (!this.accepted || !isCoxswainError(error) || !closedByOthers.has(error.code)) throw error;
      } finally {
        wasAnswered = beside?.isAtWork === true;
        if (wasAnswered) await beside?.ended();
      }
      if (end && isOver(end)) {
        if (this.#madeCalls) await runOutliving(this, end, batch);
        return end;
      }
      if (signal.aborted) return this.#abortInner();
      // Listing many is a piece of work by itself.
      if ((end?.data.pending?.length ?? 0) > MANY) {
        await breath();
        if (signal.aborted) return this.#abortInner();
      }
      let open = (wasAnswered ? undefined : end?.data.pending) ?? (await this.session.inner.pending());
      if (end) {
        last = end;
        const others = this.#repeats.took(batch, open);
        if (others) await others;
        this.#madeCalls?.begin(open, batch);
        if (rest.length > 0) {
          batch = rest.splice(0, AT_ONCE);
          await new Promise((resolve) => later(resolve));
          continue;
        }
      }
      // Approvals are looked at again; results that are still wanted are kept.
      if (!end) await this.#madeCalls?.beginNone();
      batch = end ? [] : this.calls.kept(open, batch.concat(rest));
      if (end && wentOn && open.length === 0) return end;
      const hasGoneOn = wentOn;
      wentOn = false;
      for (;;) {
        this.#stopIfSpent();
        if (signal.aborted) return this.#abortInner();
        const questions: PendingRequest[] = [];
        await judgeOpen(this, open, batch, questions);
        if (signal.aborted) break;
        const starts = this.#madeCalls?.takeStarts() ?? [];
        const isAll = batch.length === 0 && !this.calls.hasResults;
        const begun = isAll && starts.length > 0 ? await startNow(this, starts, this.#out) : undefined;
        if (begun) {
          open = begun.open;
          if (!begun.isNews) continue;
          batch.push({ kind: 'continue' });
          break;
        }
        batch.push(...starts);
        if (batch.length > 0 || this.calls.hasResults || signal.aborted) break;
        if (beside?.goesOn) {
          batch.push({ kind: 'continue' });
          break;
        }
        const isWaiting = this.calls.running > 0 || this.calls.withholds(open) || this.questions.isAsking(questions);
        if (!isWaiting && !this.#bell.isRung) {
          if (last && (questions.length > 0 || hasGoneOn)) {
            const hasMoved = await this.hold.pause(open, questions);
            if (!hasMoved && !signal.aborted && !beside?.goesOn)
              return pausedEnd(last, questions.length > 0 ? questions : open);
            if (!this.hold.isHeld) await this.hold.take();
            open = await this.session.inner.pending();
            continue;
          }
          // Everything was settled elsewhere. Once: a session that waits for nothing that is open would wait for ever.
          wentOn = true;
          batch.push({ kind: 'continue' });
          break;
        }
        if (this.calls.running === 0) this.#clock?.pause();
        this.questions.watchTime(questions);
        const leave = this.hold.watch(open, questions, () => this.wake());
        await this.woken();
        leave();
        this.#clock?.resume();
        if (this.calls.hasResults || signal.aborted) break;
        // Its start is taken when what is open has been looked at.
        if (this.calls.hasDue) continue;
        const now = await this.session.inner.pending();
        // Whoever waited for it can go on.
        if (hasClosed(open, now)) {
          batch.push({ kind: 'continue' });
          break;
        }
        open = now;
      }
      if (signal.aborted) return this.#abortInner();
      // Results that come at the same moment go together.
      if (this.calls.hasResults && this.calls.running > 0) await new Promise((resolve) => later(resolve));
      batch = batch.concat(this.calls.takeResults(), this.calls.takeStarts());
      rest = batch.splice(AT_ONCE);
    }
  }

  /** An inner stream has taken these inputs. */
  #sent(batch: readonly SessionInput[]): void {
    this.accepted = true;
    this.session.introducedBy ??= 'agent';
    if (this.#terms) this.session.frame.shared.begun = this.#terms;
    this.#terms = undefined;
    this.called?.release(this);
    for (const input of batch) if (input.kind === 'tool_result') this.#madeCalls?.stored(input.requestId);
  }

  /** The agent's own end of an aborted run; what was called ends before its call is closed. */
  async #abortInner(): Promise<StreamEndEvent> {
    await this.session.subagents?.end(messageOf(this.#controller.signal.reason));
    return this.#inner([{ kind: 'continue' }]);
  }

  #inner(batch: readonly SessionInput[]): Promise<StreamEndEvent> {
    const { inner } = this.session;
    this.#beside?.begins(batch);
    const options = innerOptions(this.session, this.options, {
      limits: this.#budget.ofAgent(),
      signal: this.#controller.signal,
      excluded: this.#excluded,
      terms: this.#terms,
      span: this.span,
    });
    // Somebody must know of each event of an inner stream; else it goes straight to whoever reads.
    const watches = this.#budget.limits.usd !== undefined || this.session.frame.hasSubagents;
    const see = watches ? (event: AgentEvent) => this.#spend(event) : undefined;
    const isIntroduced = this.session.introducedBy === 'host';
    const shown = see || isIntroduced ? { see, isIntroduced } : undefined;
    return runInner(inner, batch, options, this.#out, shown, this.session.frame.warn);
  }

  /** Counts what an inner stream costs; one that goes on beyond the limit is ended when its next model call speaks. */
  #spend(event: AgentEvent, isBelow = false): void {
    if (event.type === 'usage') this.#budget.see(event, isBelow);
    else if (event.type === 'message' && event.role === 'agent') this.#stopIfSpent();
  }

  #stopIfSpent(): void {
    const over = this.#budget.exceeded();
    if (!over || this.#controller.signal.aborted) return;
    // Not a limit's reason of its own: the end would not say why.
    if (over.code === 'E_NO_PRICE') {
      this.#out.push(hostError(this, over, false));
    }
    this.abort(over);
  }

  woken(): Promise<void> {
    return this.#bell.rung();
  }

  async #prepare(inputs: readonly SessionInput[]): Promise<void> {
    const { frame, inner } = this.session;
    this.#excluded = await excludedTools(frame, this.options);
    const goesOn = this.options[joined] !== undefined || !inputs.some((input) => input.kind === 'message');
    if (goesOn && this.#budget.counts(frame.hasSubagents)) await this.#budget.seeTurn(inner.events());
    this.#clock = startClock(this.#budget.limits.minutes, (error) => this.abort(error));
  }
}
