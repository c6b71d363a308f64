import { LazyMap } from '../../base/index.ts';
import type { RunningBranch, RunSink } from '../agent/index.ts';

/** Parts of a run that somebody ends before the run itself ends: branches by their thread, and whoever waits for such an end. */
export class EarlyEnds {
  readonly #sink: Pick<RunSink, 'letIn'>;
  readonly #branches = new LazyMap<string, RunningBranch>();
  #waited = 0;

  constructor(sink: Pick<RunSink, 'letIn'>) {
    this.#sink = sink;
  }

  /** Somebody waits for an end, and may be the consumer: nothing waits for it to ask for more. */
  get areWaitedFor(): boolean {
    return this.#waited > 0;
  }

  hasBranch(threadId: string): boolean {
    return this.#branches.has(threadId);
  }

  /** A parallel branch that can be ended by itself, until the returned function is called. */
  branch(threadId: string, running: RunningBranch): () => void {
    this.#branches.set(threadId, running);
    return () => this.#branches.delete(threadId);
  }

  /** Resolves when the branch writes nothing any more; undefined if it does not run here. */
  abortBranch(threadId: string, reason: unknown): Promise<void> | undefined {
    const running = this.#branches.get(threadId);
    if (!running) return undefined;
    running.stop(reason);
    return this.await(running.ended);
  }

  async await(ended: Promise<void>): Promise<void> {
    this.#waited++;
    this.#sink.letIn();
    try {
      await ended;
    } finally {
      this.#waited--;
    }
  }
}
