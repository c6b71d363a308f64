import { randomUUID } from 'node:crypto';
import { CoxswainError } from '../../contracts/index.ts';
import { AnswerCounter, charsOf } from '../../session/index.ts';
import type { RecordChange } from '../records/index.ts';
import { Records } from '../records/index.ts';
import type { LogLevel, Violation } from './buses.ts';
import { asError } from './errors.ts';
import type { TurnContext } from './turn-context.ts';

/** How a dispatch came to its end. */
export type Terminal = { kind: 'ack' } | { kind: 'nack'; error: Error } | { kind: 'aborted'; reason: unknown };

/** What all runs of one dispatch's executor share. The first terminal is the only one. */
export class DispatchState {
  readonly dispatchId: string = randomUUID();
  readonly turn: TurnContext;
  /** The dispatch's own view; flushed into the turn's at the end of each iteration. */
  readonly records: Records;
  readonly ackHandlers = new Set<() => void>();
  /** Fires when nobody waits for the executor any more. */
  readonly left = new AbortController();
  iteration = 0;
  /** Nothing that comes now is applied. */
  ended = false;
  /** Tools that run or wait for somebody's yes. */
  toolsRunning = 0;
  /** Tools called so far. */
  toolCalls = 0;
  /** Told of every sign of life. */
  onActivity: () => void = () => {};
  /** Reports, stores and tool runs so far. */
  progress = 0;
  #terminal: Terminal | undefined;
  #stored: { iteration: number; counter: AnswerCounter } | undefined;
  #unflushed: RecordChange[] = [];
  readonly #writing = new Set<Promise<unknown>>();

  constructor(turn: TurnContext) {
    this.turn = turn;
    this.records = new Records(turn.records);
    turn.onWords = (words) => void this.records.message.add(words);
  }

  terminal(): Terminal | undefined {
    return this.#terminal;
  }

  /** False: something was first, and stands. */
  end(terminal: Terminal): boolean {
    if (this.#terminal) return false;
    this.#terminal = terminal;
    return true;
  }

  /** Fails the dispatch, and waits no longer for its executor. False: something was first, and stands. */
  give(error: Error): boolean {
    const isFirst = this.end({ kind: 'nack', error });
    this.left.abort(error);
    if (isFirst) this.turn.abort(error);
    return isFirst;
  }

  /** Counts something; what is too much fails the dispatch. @throws CoxswainError `RESOURCE_EXHAUSTED / E_ANSWER_LIMIT` */
  within(count: () => void): void {
    try {
      count();
    } catch (error) {
      this.give(asError(error));
      throw error;
    }
  }

  /**
   * An executor's or pipeline's own signal.
   * @throws CoxswainError `FAILED_PRECONDITION / E_LLM_EXECUTION_ALREADY_SIGNALLED | E_LLM_EXECUTION_SUPERSEDED`
   */
  signal(iteration: number, kind: 'ack' | 'nack', error?: unknown): void {
    this.touch(false);
    const first = this.#terminal;
    if (first) {
      this.violation('signal', `${kind} after ${first.kind}`, iteration);
      // Whoever was aborted has signalled nothing twice.
      if (first.kind === 'aborted') return;
      throw new CoxswainError(
        'FAILED_PRECONDITION',
        'E_LLM_EXECUTION_ALREADY_SIGNALLED',
        `${kind}() after ${first.kind}(): a dispatch is signalled once; the first signal stands`,
        { details: { first: first.kind, second: kind } },
      );
    }
    if (iteration !== this.iteration) {
      const message = `${kind}() of run ${iteration}, which has returned; run ${this.iteration} is the present one`;
      this.violation('signal', message, iteration);
      throw new CoxswainError('FAILED_PRECONDITION', 'E_LLM_EXECUTION_SUPERSEDED', message);
    }
    if (kind === 'nack') {
      this.end({ kind, error: error === undefined ? new Error('the executor gave up') : asError(error) });
      return;
    }
    this.end({ kind });
    for (const handler of this.ackHandlers) {
      try {
        handler();
      } catch {
        // The signal stands, whatever those who hear of it do.
      }
    }
  }

  /**
   * May this run still write, report or call?
   * @throws CoxswainError `FAILED_PRECONDITION / E_LLM_EXECUTION_SUPERSEDED`
   */
  assertPresent(iteration: number, kind: 'store' | 'tool', what: string): void {
    this.touch();
    if (this.isPresent(iteration)) return;
    this.violation(kind, `${what} after the end`, iteration);
    const why = this.ended ? 'the dispatch has ended' : `run ${iteration} has returned`;
    throw new CoxswainError('FAILED_PRECONDITION', 'E_LLM_EXECUTION_SUPERSEDED', `${what}: ${why}; nothing was done`);
  }

  isPresent(iteration: number): boolean {
    return !this.ended && iteration === this.iteration;
  }

  async write(change: RecordChange, context: TurnContext): Promise<void> {
    this.within(() => this.#count(change));
    const written = this.turn.backend.write(change, context).then(() => {
      this.records.apply(change);
      this.#unflushed.push(change);
    });
    this.#writing.add(written);
    const done = () => void this.#writing.delete(written);
    written.then(done, done);
    await written;
  }

  /** What one run stores has the bounds of what it reports. */
  #count(change: RecordChange): void {
    if (change.op === 'delete') return;
    const { iteration } = this;
    if (this.#stored?.iteration !== iteration) {
      const counter = new AnswerCounter(this.turn.bounds.answerLimits, 'what one run of the executor stored');
      this.#stored = { iteration, counter };
    }
    const { counter } = this.#stored;
    if (change.kind === 'message') counter.more('text', charsOf(change.value.content));
    else if (change.kind === 'thought') counter.more('thoughts', charsOf(change.value.content));
    else {
      if (change.op === 'store') {
        counter.more('calls', 1);
        counter.more('args', charsOf(change.value.args));
      }
      counter.more('other', charsOf(change.value.results));
    }
  }

  /** Waits for writes that nobody awaited. */
  async writes(): Promise<void> {
    while (this.#writing.size > 0) await Promise.allSettled(this.#writing);
  }

  /** The turn sees what the dispatch did; after a nack or abort it does not, though all of it is durable. */
  flush(): void {
    const changes = this.#unflushed;
    this.#unflushed = [];
    const kind = this.#terminal?.kind;
    if (kind === 'nack' || kind === 'aborted') return;
    for (const change of changes) this.turn.records.apply(change);
  }

  touch(isProgress = true): void {
    if (isProgress) this.progress++;
    this.onActivity();
  }

  log(level: LogLevel, kind: string, message: string): void {
    const { turn, dispatchId, iteration } = this;
    turn.buses.tell('log', { turnId: turn.turnId, dispatchId, iteration, level, kind, message, at: Date.now() });
  }

  violation(kind: Violation['kind'], message: string, iteration: number): void {
    const { turn, dispatchId } = this;
    turn.buses.tell('violation', { turnId: turn.turnId, dispatchId, iteration, kind, message, at: Date.now() });
  }
}
