import type { CallToolResult, InputRequiredResult, ServerContext } from '@modelcontextprotocol/server';
import { MAX_TIMER_MS } from '../../../gate/index.ts';
import type { CallWatcher } from '../turn/index.ts';
import { UNWATCHED } from '../turn/index.ts';

export type HandedOutcome = CallToolResult | InputRequiredResult;
export type Call = (context: ServerContext, watcher: CallWatcher) => Promise<HandedOutcome>;

/** How a call may become a task. */
export interface Handing<T> {
  /** Milliseconds until it does; 0: it always does, however soon it ends. */
  afterMs: number;
  /** Among whose tasks it counts. */
  owner: string;
  /** What it is from then on; its place in the log is there. */
  seed(sessionId: string, turnId: string): Promise<{ key: string; task: T }>;
}

/** Calls that run on without the request that made them. What they come to is in their logs alone. */
export class HandedCalls {
  readonly #max: number;
  readonly #warn: (message: string, error?: unknown) => void;
  /** By key of the task: whose it is. */
  readonly #running = new Map<string, string>();

  constructor(max: number, warn: (message: string, error?: unknown) => void) {
    this.#max = max;
    this.#warn = warn;
  }

  /** Makes a call, and waits for it as long as it is no task. */
  async make<T>(
    context: ServerContext,
    call: Call,
    handing: Handing<T>,
  ): Promise<{ outcome: HandedOutcome } | { task: T }> {
    const { signal } = context.mcpReq;
    const own = ownContext(context);
    const cancel = () => own.controller.abort(signal.reason);
    signal.addEventListener('abort', cancel, { once: true });
    if (signal.aborted) cancel();
    const begun = Promise.withResolvers<void>();
    const due = Promise.withResolvers<void>();
    let place: { sessionId: string; turnId: string } | undefined;
    let isLeft = false;
    const watcher: CallWatcher = {
      begun(sessionId, turnId) {
        place = { sessionId, turnId };
        begun.resolve();
      },
      left() {
        isLeft = true;
        due.resolve();
      },
    };
    const made = call(own.context, watcher);
    // Whoever waits for it hears of a failure; nobody may.
    made.catch(() => {});
    const isAlways = handing.afterMs === 0;
    const timer = setTimeout(due.resolve, Math.min(handing.afterMs, MAX_TIMER_MS));
    try {
      const hasEnded = await Promise.race([
        made.then(() => true),
        Promise.all([begun.promise, due.promise]).then(() => false),
      ]);
      // What works needs a place among those that do; what has ended or waits needs none.
      const becomesOne = hasEnded || isLeft ? isAlways || isLeft : this.#hasRoom(handing.owner);
      if (!becomesOne || !place) return { outcome: await made };
      const { key, task } = await handing.seed(place.sessionId, place.turnId);
      signal.throwIfAborted();
      own.detach();
      if (!hasEnded) this.#keep(key, handing.owner, made);
      return { task };
    } catch (error) {
      // Who asked hears that it has failed: nothing of it runs on unseen.
      own.controller.abort(error);
      throw error;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', cancel);
    }
  }

  /** Goes on with a task that nobody runs here, if there is room. */
  goOn(key: string, owner: string, context: ServerContext, call: Call): void {
    if (this.#running.has(key) || !this.#hasRoom(owner)) return;
    const own = ownContext(context);
    own.detach();
    this.#keep(key, owner, call(own.context, UNWATCHED));
  }

  #hasRoom(owner: string): boolean {
    let held = 0;
    for (const other of this.#running.values()) if (other === owner) held += 1;
    return held < this.#max;
  }

  #keep(key: string, owner: string, made: Promise<HandedOutcome>): void {
    this.#running.set(key, owner);
    made
      .catch((error: unknown) => this.#warn('a task could not continue', error))
      .finally(() => this.#running.delete(key));
  }
}

/** The context of a call that outlives its request: after `detach` nothing is sent on its behalf. */
function ownContext(context: ServerContext): { context: ServerContext; controller: AbortController; detach(): void } {
  const controller = new AbortController();
  let isAttached = true;
  const { mcpReq } = context;
  const notify: typeof mcpReq.notify = async (...given) => {
    if (isAttached) await mcpReq.notify(...given);
  };
  return {
    context: { ...context, mcpReq: { ...mcpReq, signal: controller.signal, notify } },
    controller,
    detach() {
      isAttached = false;
    },
  };
}
