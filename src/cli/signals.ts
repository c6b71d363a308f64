import { CoxswainError } from '../contracts/index.ts';
import { EXIT } from './exit-code.ts';

/**
 * Ctrl-C, SIGTERM, SIGHUP and a reader that has gone: the first aborts what runs, the second ends the process. With
 * nothing running the first ends it.
 */
export class Interrupts {
  #running: AbortController | undefined;

  listen(): void {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => this.press(signal));
  }

  /** The run that the next interrupt aborts. */
  start(): AbortController {
    this.#running = new AbortController();
    return this.#running;
  }

  over(): void {
    this.#running = undefined;
  }

  press(why: string): void {
    const running = this.#running;
    if (!running || running.signal.aborted) process.exit(EXIT.aborted);
    running.abort(new CoxswainError('ABORTED', 'E_ABORTED', `interrupted (${why})`));
  }
}
