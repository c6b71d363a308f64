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
  /** Of each owner, how many run: several may be of one task. */
  readonly #owned = new Map<string, number>();
  /** Of each task, how many run. */
  readonly #running = new Map<string, number>();

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
    let leave: (() => void) | undefined;
    const timer = setTimeout(due.resolve, Math.min(handing.afterMs, MAX_TIMER_MS));
    try {
      const hasEnded = await Promise.race([
        made.then(() => true),
        Promise.all([begun.promise, due.promise]).then(() => false),
      ]);
      // What works needs a place among those that do; what has ended or waits needs none.
      if (!hasEnded) leave = this.#enter(handing.owner, isLeft);
      const becomesOne = hasEnded ? isAlways || isLeft : leave !== undefined;
      if (!becomesOne || !place) return { outcome: await made };
      const { key, task } = await handing.seed(place.sessionId, place.turnId);
      signal.throwIfAborted();
      own.detach();
      if (leave) this.#keep(key, made, leave);
      leave = undefined;
      return { task };
    } catch (error) {
      // Who asked hears that it has failed: nothing of it runs on unseen.
      own.controller.abort(error);
      throw error;
    } finally {
      clearTimeout(timer);
      leave?.();
      signal.removeEventListener('abort', cancel);
    }
  }

  /** Goes on with a task that nobody runs here, if there is room. */
  goOn(key: string, owner: string, context: ServerContext, call: Call): void {
    if (this.#running.has(key)) return;
    const leave = this.#enter(owner);
    if (!leave) return;
    const own = ownContext(context);
    own.detach();
    this.#keep(key, call(own.context, UNWATCHED), leave);
  }

  /** Takes a place among those of one owner; what it gives gives it back. Undefined: there is none. */
  #enter(owner: string, isFree = false): (() => void) | undefined {
    if (!isFree && (this.#owned.get(owner) ?? 0) >= this.#max) return undefined;
    count(this.#owned, owner, 1);
    return () => count(this.#owned, owner, -1);
  }

  #keep(key: string, made: Promise<HandedOutcome>, leave: () => void): void {
    count(this.#running, key, 1);
    made
      .catch((error: unknown) => this.#warn('a task could not continue', error))
      .finally(() => {
        count(this.#running, key, -1);
        leave();
      });
  }
}

function count(counts: Map<string, number>, name: string, by: number): void {
  const now = (counts.get(name) ?? 0) + by;
  if (now > 0) counts.set(name, now);
  else counts.delete(name);
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
