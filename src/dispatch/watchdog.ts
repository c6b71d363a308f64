import { CoxswainError } from '../contracts/index.ts';
import type { DispatchState } from './dispatch-state.ts';

export interface WatchdogOptions {
  /** Milliseconds without a report, store, log, tool or signal. A tool that runs or waits is no silence. */
  silenceMs?: number | undefined;
  /** Runs in a row that neither signal nor do anything. */
  idleRuns?: number | undefined;
}

/** Turns silence into a failure of the dispatch. */
export class Watchdog {
  readonly #state: DispatchState;
  readonly #options: WatchdogOptions;
  #timer: NodeJS.Timeout | undefined;
  #idle = 0;

  constructor(state: DispatchState, options: WatchdogOptions) {
    this.#state = state;
    this.#options = options;
    if (options.silenceMs === undefined) return;
    state.onActivity = () => this.#timer?.refresh();
    this.#timer = setTimeout(() => this.#silent(), options.silenceMs);
  }

  /** A run has returned. */
  ran(progress: boolean): void {
    this.#idle = progress ? 0 : this.#idle + 1;
    const { idleRuns } = this.#options;
    if (idleRuns !== undefined && this.#idle >= idleRuns)
      this.#fail(`${this.#idle} runs did nothing and did not signal`);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#state.onActivity = () => {};
  }

  #silent(): void {
    if (this.#state.toolsRunning > 0) {
      this.#timer?.refresh();
      return;
    }
    this.#fail(`no sign of life for ${this.#options.silenceMs} ms`);
  }

  #fail(what: string): void {
    const error = new CoxswainError('DEADLINE_EXCEEDED', 'E_EXECUTOR_SILENT', `the executor is silent: ${what}`);
    const isFirst = this.#state.end({ kind: 'nack', error });
    this.#state.left.abort(error);
    if (isFirst) this.#state.turn.abort(error);
    else this.#state.violation('signal', `silence after the signal: ${what}`, this.#state.iteration);
  }
}
