import { CoxswainError } from '../../contracts/index.ts';
import { AnswerCounter, charsOf } from '../../session/index.ts';
import { toolCallChecksum } from '../records/index.ts';
import type { LogEntry, LogLevel, StreamedContent, StreamedToolCall } from './buses.ts';
import type { DispatchState } from './dispatch-state.ts';
import type { GenerationStats } from './generation-stats.ts';

export interface ReportOptions {
  /** The last piece: a later report of the same id throws. */
  isComplete?: boolean;
}

export type ToolCallReport = Partial<Pick<StreamedToolCall, 'tool' | 'args' | 'results' | 'isError' | 'isComplete'>>;

/**
 * What an executor shows while it works. Nothing of it is stored. More than `answerLimits` allows in one run throws
 * `RESOURCE_EXHAUSTED / E_ANSWER_LIMIT`, and the dispatch fails.
 */
export interface DispatchExecutorHelpers {
  /** @throws CoxswainError `FAILED_PRECONDITION / E_REPORT_SEALED` after the last piece */
  reportMessage(id: string, delta: string, options?: ReportOptions): void;
  /** @throws CoxswainError `FAILED_PRECONDITION / E_REPORT_SEALED` after the last piece */
  reportThought(id: string, delta: string, options?: ReportOptions): void;
  /**
   * Adds to what is known of a call.
   * @throws CoxswainError `FAILED_PRECONDITION / E_REPORT_SEALED` after the last piece
   */
  reportToolCall(id: string, partial: ToolCallReport): void;
  /** Never throws. */
  reportGenerationStats(stats: GenerationStats): void;
  /** Never throws. */
  readonly log: { readonly [level in LogLevel]: (entry: LogEntry) => void };
}

const REPORTED = 'what one run of the executor reported';

interface Run {
  iteration: number;
  counter: AnswerCounter;
}

const levels: readonly LogLevel[] = ['trace', 'debug', 'info', 'warn', 'error'];

/** What has been reported in one dispatch, over all runs of its executor. */
export class Reports {
  readonly #state: DispatchState;
  readonly #messages = new Map<string, StreamedContent>();
  readonly #thoughts = new Map<string, StreamedContent>();
  readonly #calls = new Map<string, StreamedToolCall>();

  constructor(state: DispatchState) {
    this.#state = state;
  }

  /** The helpers of one run. */
  helpers(iteration: number): DispatchExecutorHelpers {
    const log = Object.fromEntries(
      levels.map((level) => [level, (entry: LogEntry) => this.#log(iteration, level, entry)] as const),
    ) as DispatchExecutorHelpers['log'];
    const run = { iteration, counter: new AnswerCounter(this.#state.turn.bounds.answerLimits, REPORTED) };
    return {
      reportMessage: (id, delta, options) => this.#text(run, 'message', this.#messages, id, delta, options),
      reportThought: (id, delta, options) => this.#text(run, 'thought', this.#thoughts, id, delta, options),
      reportToolCall: (id, partial) => this.#call(run, id, partial),
      reportGenerationStats: (stats) => this.#stats(iteration, stats),
      log,
    };
  }

  #text(
    { iteration, counter }: Run,
    kind: 'message' | 'thought',
    streams: Map<string, StreamedContent>,
    id: string,
    delta: string,
    options: ReportOptions = {},
  ): void {
    if (!this.#mayReport(iteration, `${kind} ${id}`)) return;
    const now = Date.now();
    const known = streams.get(id);
    if (known?.isComplete) throw sealed(kind, id);
    const part =
      kind === 'message' ? ({ type: 'text', text: delta } as const) : ({ type: 'thought', thought: delta } as const);
    this.#state.within(() => counter.add([part]));
    const next: StreamedContent = {
      id,
      full: (known?.full ?? '') + delta,
      aDelta: delta,
      isComplete: options.isComplete === true,
      createdAt: known?.createdAt ?? now,
      updatedAt: now,
      ...(options.isComplete ? { completedAt: now } : {}),
    };
    // Nobody adds to a whole one: only that it is whole is kept.
    streams.set(id, next.isComplete ? { ...next, full: '', aDelta: '' } : next);
    const { buses, backend } = this.#state.turn;
    buses.show(kind, next);
    if (delta !== '') backend.delta?.(kind, id, delta);
  }

  #call({ iteration, counter }: Run, id: string, partial: ToolCallReport): void {
    if (!this.#mayReport(iteration, `tool call ${id}`)) return;
    const now = Date.now();
    const known = this.#calls.get(id);
    if (known?.isComplete) throw sealed('tool call', id);
    this.#state.within(() => {
      counter.add([]);
      if (!known) counter.more('calls', 1);
      if ('args' in partial) counter.more('args', charsOf(partial.args));
      if ('results' in partial) counter.more('other', charsOf(partial.results));
    });
    const { tool, args, results, isError, isComplete } = partial;
    const next: StreamedToolCall = {
      ...(known ?? { id, isError: false, isComplete: false, createdAt: now }),
      ...(tool === undefined ? {} : { tool }),
      ...('args' in partial ? { args } : {}),
      ...('results' in partial ? { results } : {}),
      ...(isError === undefined ? {} : { isError }),
      ...(isComplete === undefined ? {} : { isComplete }),
      updatedAt: now,
      ...(isComplete ? { completedAt: now } : {}),
    };
    const changed = tool !== undefined || 'args' in partial;
    if (changed && next.tool !== undefined && 'args' in next) next.checksum = toolCallChecksum(next.tool, next.args);
    this.#calls.set(id, next.isComplete ? { ...next, args: undefined, results: undefined } : next);
    this.#state.turn.buses.show('toolCall', next);
  }

  /** Shown while the executor runs, also after its signal; dropped once nobody listens to this run any more. */
  #mayReport(iteration: number, what: string): boolean {
    this.#state.touch();
    if (this.#state.isPresent(iteration)) return true;
    this.#state.violation('report', `${what} after the end`, iteration);
    return false;
  }

  #log(iteration: number, level: LogLevel, entry: LogEntry): void {
    const { turn, dispatchId } = this.#state;
    this.#state.touch(false);
    turn.buses.tell('log', { ...entry, turnId: turn.turnId, dispatchId, iteration, level, at: Date.now() });
  }

  #stats(iteration: number, stats: GenerationStats): void {
    const { turn, dispatchId } = this.#state;
    this.#state.touch();
    turn.buses.tell('generationStats', { ...stats, turnId: turn.turnId, dispatchId, iteration, at: Date.now() });
    if (this.#state.isPresent(iteration)) turn.backend.stats?.(stats);
  }
}

function sealed(kind: string, id: string): CoxswainError {
  return new CoxswainError('FAILED_PRECONDITION', 'E_REPORT_SEALED', `${kind} ${id} was reported complete`);
}
