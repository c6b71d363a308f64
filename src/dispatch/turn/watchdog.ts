import { CoxswainError } from '../../contracts/index.ts';
import { MAX_TIMER_MS } from '../../gate/index.ts';
import { amount, checkOptions } from '../../session/index.ts';
import type { DispatchState } from './dispatch-state.ts';

export interface WatchdogOptions {
  /** Milliseconds without a report, store, log, tool or signal; Infinity: no limit. A tool that runs or waits is no silence. */
  silenceMs?: number | undefined;
  /** Runs in a row that neither signal nor do anything. */
  idleRuns?: number | undefined;
  /** Runs in a row that return without a signal and have called no tool, whatever they report and store. */
  unsignalledRuns?: number | undefined;
}

/** @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` */
export function checkWatchdog(options: WatchdogOptions | undefined, where: string): void {
  if (options === undefined) return;
  checkOptions<WatchdogOptions>(options, where, { silenceMs: amount, idleRuns: amount, unsignalledRuns: amount });
}

/** Turns silence into a failure of the dispatch. */
export class Watchdog {
  readonly #state: DispatchState;
  readonly #options: WatchdogOptions;
  #timer: NodeJS.Timeout | undefined;
  #idle = 0;
  #unsignalled = 0;
  #toolCalls = 0;

  constructor(state: DispatchState, options: WatchdogOptions) {
    this.#state = state;
    this.#options = options;
    if (options.silenceMs === undefined || options.silenceMs > MAX_TIMER_MS) return;
    state.onActivity = () => this.#timer?.refresh();
    this.#timer = setTimeout(() => this.#silent(), options.silenceMs);
  }

  /** A run has returned without a signal. */
  ran(progress: boolean): void {
    const { toolCalls } = this.#state;
    this.#idle = progress ? 0 : this.#idle + 1;
    this.#unsignalled = toolCalls === this.#toolCalls ? this.#unsignalled + 1 : 0;
    this.#toolCalls = toolCalls;
    const { idleRuns, unsignalledRuns } = this.#options;
    if (idleRuns !== undefined && this.#idle >= idleRuns)
      this.#fail(`${this.#idle} runs did nothing and did not signal`);
    else if (unsignalledRuns !== undefined && this.#unsignalled >= unsignalledRuns)
      this.#fail(`it returned without a signal and without a tool call ${this.#unsignalled} times in a row`);
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
    this.#fail(`no heartbeat for ${this.#options.silenceMs} ms`);
  }

  #fail(what: string): void {
    const message = `the executor is silent: ${what}; end each turn with ack() or nack()`;
    const error = new CoxswainError('DEADLINE_EXCEEDED', 'E_EXECUTOR_SILENT', message);
    if (!this.#state.give(error))
      this.#state.violation('signal', `silence after the signal: ${what}`, this.#state.iteration);
  }
}
