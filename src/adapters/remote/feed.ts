import type { AgentEvent } from '../../contracts/index.ts';
import { joinedEvents, StreamQueue } from '../../session/index.ts';

/** Hands each event to whoever watches. */
export class Feed {
  readonly #watchers = new Set<(event: AgentEvent) => void>();
  readonly #endings = new Set<(error?: unknown) => void>();
  #closed = false;
  /** What came in one piece with the answer to the opening, for whoever watches as soon as it is told. */
  #early: AgentEvent[] | undefined = [];

  constructor() {
    setTimeout(() => {
      this.#early = undefined;
    }, 0);
  }

  push(event: AgentEvent): void {
    this.#early?.push(event);
    for (const watcher of this.#watchers) watcher(event);
  }

  /** Called for each event from now on, until the returned function is called. */
  listen(watcher: (event: AgentEvent) => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  /** Resolves when nothing more comes; rejects where that is a failure. */
  ended(): { over: Promise<void>; stop: () => void } {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const end = (error?: unknown) => (error === undefined ? resolve() : reject(error));
    if (this.#closed) end();
    this.#endings.add(end);
    void promise.then(
      () => this.#endings.delete(end),
      () => this.#endings.delete(end),
    );
    return { over: promise, stop: () => resolve() };
  }

  /** All events from now on. */
  open(): AsyncIterableIterator<AgentEvent> {
    const early: AgentEvent[] = [...(this.#early ?? [])];
    let show = (event: AgentEvent): unknown => early.push(event);
    const forget = this.listen((event) => show(event));
    const { over, stop } = this.ended();
    over.catch(() => {});
    const queue = new StreamQueue<AgentEvent>(
      async (out) => {
        for (const event of early.splice(0)) out.push(event);
        show = (event) => out.push(event);
        try {
          await over;
        } finally {
          forget();
        }
      },
      async () => stop(),
      joinedEvents,
    );
    const leave = queue.return.bind(queue);
    // Also where nobody has begun to read.
    return Object.assign(queue, {
      return: () => {
        forget();
        return leave();
      },
    });
  }

  close(error?: unknown): void {
    this.#closed = true;
    for (const end of this.#endings) end(error);
  }
}
