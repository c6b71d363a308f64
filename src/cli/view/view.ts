import type { AgentEvent } from '../../contracts/index.ts';

/** Shows the events of streams. */
export interface View {
  /** What the producer waits for before the next event, if anything. */
  event(event: AgentEvent): void | Promise<void>;
}

/**
 * Events as JSON lines on stdout. Without `all` the durable ones, and what a reader needs besides to know how it
 * ended: a fatal error and the end of a stream that only waits.
 */
export class JsonView implements View {
  readonly #all: boolean;

  constructor(options: { all: boolean }) {
    this.#all = options.all;
  }

  event(event: AgentEvent): void | Promise<void> {
    const isDurable = event.cursor !== undefined;
    if (!this.#all && !isDurable && event.type !== 'stream_end' && event.type !== 'error') return undefined;
    const { stdout } = process;
    if (stdout.destroyed || stdout.write(`${JSON.stringify(event)}\n`)) return undefined;
    return new Promise((resolve) => {
      const go = () => {
        stdout.off('drain', go).off('error', go).off('close', go);
        resolve();
      };
      stdout.once('drain', go).once('error', go).once('close', go);
    });
  }
}
