import { CoxswainError } from '../../contracts/index.ts';
import { EXIT } from './exit-code.ts';

/**
 * Ctrl-C, SIGTERM, SIGHUP and a reader that has gone: the first aborts what runs, the second ends the process. With
 * nothing running the first ends it.
 */
export class Interrupts {
  #running: AbortController | undefined;
  #strays = 0;
  #lastWords: (() => void) | undefined;
  #onStray: ((message: string, error: unknown) => void) | undefined;

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

  /**
   * Many are served: a promise that a tool has let go of, and that is rejected, is said and counted from now on, and ends
   * nobody else's run.
   */
  outlive(onStray: (message: string, error: unknown) => void): void {
    this.#onStray = onStray;
  }

  /** A promise that nobody awaited was rejected; false: the command does not outlive it. */
  stray(error: unknown): boolean {
    if (!this.#onStray) return false;
    const message = `a promise that nobody awaited was rejected, ${++this.#strays} so far; await it in the tool, hook or policy that made it`;
    this.#onStray(message, error);
    return true;
  }

  /** Something runs that an interrupt would end. */
  get isRunning(): boolean {
    return this.#running?.signal.aborted === false;
  }

  /** What is said before an interrupt ends the process. */
  beforeEnd(lastWords: (() => void) | undefined): void {
    this.#lastWords = lastWords;
  }

  press(why: string): void {
    const running = this.#running;
    if (!running || running.signal.aborted) {
      this.#lastWords?.();
      process.exit(EXIT.aborted);
    }
    running.abort(new CoxswainError('ABORTED', 'E_ABORTED', `interrupted (${why})`));
  }
}
