import { setImmediate as breath } from 'node:timers/promises';
import { CoxswainError, isCoxswainError } from '../../contracts/index.ts';
import type { DispatchStatus } from './buses.ts';
import { DispatchContext } from './dispatch-context.ts';
import type { Terminal } from './dispatch-state.ts';
import { DispatchState } from './dispatch-state.ts';
import { asError, caused, isAbort } from './errors.ts';
import type { DispatchExecutorHelpers } from './helpers.ts';
import { Reports } from './helpers.ts';
import type { Middleware } from './pipeline.ts';
import { runPipeline } from './pipeline.ts';
import type { TurnContext } from './turn-context.ts';
import type { WatchdogOptions } from './watchdog.ts';
import { Watchdog } from './watchdog.ts';

/** The one function that a loop of one's own is. Ends with `ctx.ack()` or `ctx.nack(error)`; else it runs again. */
export type DispatchExecutorFn = (ctx: DispatchContext, helpers: DispatchExecutorHelpers) => void | Promise<void>;

export interface DispatchOptions {
  executor: DispatchExecutorFn;
  /** Around every run of the executor. */
  dispatchInputPipeline?: readonly Middleware<DispatchContext>[] | undefined;
  /** Skipped where the executor has signalled. */
  dispatchOutputPipeline?: readonly Middleware<DispatchContext>[] | undefined;
  /** Off by default: an executor may be silent, and run without end, until somebody aborts. */
  watchdog?: WatchdogOptions | undefined;
}

export interface DispatchResult {
  status: DispatchStatus;
  error?: Error;
  iterations: number;
}

/** Runs the executor until it signals, fails or is aborted. Never rejects. */
export async function dispatch(turn: TurnContext, options: DispatchOptions): Promise<DispatchResult> {
  const run = new Dispatch(turn, options);
  return run.toTheEnd();
}

class Dispatch {
  readonly #state: DispatchState;
  readonly #turn: TurnContext;
  readonly #options: DispatchOptions;
  readonly #reports: Reports;

  constructor(turn: TurnContext, options: DispatchOptions) {
    this.#turn = turn;
    this.#options = options;
    this.#state = new DispatchState(turn);
    this.#reports = new Reports(this.#state);
  }

  async toTheEnd(): Promise<DispatchResult> {
    const state = this.#state;
    const { buses, turnId, abortSignal } = this.#turn;
    const ids = { turnId, dispatchId: state.dispatchId };
    const abort = () => {
      state.end({ kind: 'aborted', reason: abortSignal.reason });
      state.left.abort(abortSignal.reason);
    };
    if (abortSignal.aborted) abort();
    else abortSignal.addEventListener('abort', abort, { once: true });
    buses.tell('dispatchStart', { ...ids, startedAt: Date.now() });
    const watchdog = new Watchdog(state, this.#options.watchdog ?? {});
    let iterations = 0;
    try {
      while (!state.terminal()) {
        state.iteration = iterations++;
        buses.tell('iterationStart', { ...ids, iteration: state.iteration, startedAt: Date.now() });
        const before = state.progress;
        await this.#iteration();
        const kind = state.terminal()?.kind;
        const progress = state.progress !== before;
        const signal = kind === 'ack' || kind === 'nack' ? { signal: kind } : {};
        const end = { ...ids, iteration: state.iteration, endedAt: Date.now(), progress, ...signal };
        buses.tell('iterationEnd', end);
        if (state.terminal()) break;
        watchdog.ran(progress);
        // So that a loop that never waits can still be aborted.
        await breath();
      }
    } finally {
      watchdog.stop();
      abortSignal.removeEventListener('abort', abort);
      state.ended = true;
    }
    const result = resultOf(state.terminal(), iterations);
    buses.tell('dispatchEnd', { ...ids, endedAt: Date.now(), status: result.status, iterations });
    return result;
  }

  async #iteration(): Promise<void> {
    const state = this.#state;
    const { dispatchInputPipeline: input = [], dispatchOutputPipeline: output = [], executor } = this.#options;
    const context = new DispatchContext(state);
    await this.#stage(() => this.#arrivals());
    if (!state.terminal()) await this.#stage(() => this.#pipeline('dispatch-input', input, context));
    if (!state.terminal()) {
      await this.#stage(async () => {
        try {
          await executor(context, this.#reports.helpers(context.iteration));
        } catch (error) {
          this.#thrown(error, () => caused('INTERNAL', 'E_LLM_EXECUTION_EXECUTOR_ERROR', 'the executor failed', error));
        }
      });
    }
    if (!state.terminal()) await this.#stage(() => this.#pipeline('dispatch-output', output, context));
    await this.#stage(() => state.writes());
    state.flush();
  }

  /** Words that came since the last run are there before this one. */
  async #arrivals(): Promise<void> {
    try {
      await this.#turn.backend.arrivals?.();
    } catch (error) {
      this.#state.end({ kind: 'nack', error: asError(error) });
    }
  }

  /** Waits for a piece of work, but not for one that goes on after an abort. */
  async #stage(work: () => Promise<void>): Promise<void> {
    const { signal } = this.#state.left;
    if (signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const stop = () => resolve();
    signal.addEventListener('abort', stop, { once: true });
    try {
      await Promise.race([work(), promise]);
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  async #pipeline(
    name: string,
    steps: readonly Middleware<DispatchContext>[],
    context: DispatchContext,
  ): Promise<void> {
    const state = this.#state;
    const over = () => state.terminal() !== undefined;
    try {
      if (await runPipeline(steps, context, over)) return;
      const message = `the ${name} pipeline was left without next(), signal or abort`;
      state.end({
        kind: 'nack',
        error: new CoxswainError('FAILED_PRECONDITION', 'E_PIPELINE_SHORT_CIRCUITED', message),
      });
    } catch (error) {
      this.#thrown(error, () => caused('INTERNAL', 'E_DISPATCH_PIPELINE_ERROR', `the ${name} pipeline failed`, error));
    }
  }

  #thrown(thrown: unknown, wrap: () => CoxswainError): void {
    const state = this.#state;
    const first = state.terminal();
    if (!first) {
      state.end(isAbort(thrown) ? { kind: 'aborted', reason: thrown } : { kind: 'nack', error: wrap() });
      return;
    }
    if (first.kind === 'aborted' || isAbort(thrown) || (first.kind === 'nack' && first.error === thrown)) return;
    // The signal stands; what was thrown after it is not lost.
    const repeated = isCoxswainError(thrown) && thrown.code === 'E_LLM_EXECUTION_ALREADY_SIGNALLED';
    const error = wrap();
    if (!repeated) state.violation('throw', `threw after ${first.kind}: ${error.message}`, state.iteration);
    if (!repeated && first.kind === 'ack') this.#turn.buses.tell('error', error);
  }
}

function resultOf(terminal: Terminal | undefined, iterations: number): DispatchResult {
  if (terminal?.kind === 'nack') return { status: 'nack', error: terminal.error, iterations };
  return { status: terminal?.kind ?? 'aborted', iterations };
}
