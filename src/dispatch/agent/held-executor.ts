import { setImmediate as breath } from 'node:timers/promises';
import { CoxswainError, canonicalJson, isCoxswainError } from '../../contracts/index.ts';
import type { AgentContext, Held, HookChain, LiveSession, Outcome, ToolMap } from '../../runtime/index.ts';
import { DONE, failureOf, newId, SUSPENDED, takeSteers } from '../../runtime/index.ts';
import type { RecordChange } from '../records/index.ts';
import { CallsById } from '../records/index.ts';
import type { Tool, ToolRunOptions } from '../tools/index.ts';
import type { ForeignEvent, TurnBackend, TurnInit, TurnOptions, TurnOutcome } from '../turn/index.ts';
import {
  eventIdOf,
  recordEvent,
  recordsOf,
  runTurn,
  ShownReports,
  steersOf,
  TurnContext,
  usageOfStats,
} from '../turn/index.ts';
import type { InlineCallRequest, Waiting } from './held-calls.ts';
import { HeldCalls, madeWithin, unwanted } from './held-calls.ts';
import { countRun } from './run-limits.ts';

/** Branches of another framework's tree are branches of the place that the agent has in ours. */
function placeOf(context: AgentContext, own: string): { branch: string; thread?: string } {
  const branch = context.branch === undefined ? own : `${context.branch}.${own}`;
  return context.iso === '' ? { branch } : { branch, thread: context.threadOf(branch) };
}

type Op =
  | ({ kind: 'call' } & InlineCallRequest)
  | ({ kind: 'do'; work: (context: AgentContext) => Promise<unknown> } & Waiting);

/**
 * An executor that runs through several streams: its promise lives here, in memory, while the log has its messages
 * and calls. What it does is queued and done by whichever stream drives it; between streams it waits, and tells whoever
 * listens that there is something to be done.
 */
export class HeldExecutor implements Held, TurnBackend {
  readonly agent: string;
  readonly #turn: TurnContext;
  readonly #byId = new CallsById();
  readonly #shown = new ShownReports();
  readonly #stored = new Map<string, string>();
  readonly #calls: HeldCalls;
  readonly #session: LiveSession;
  #queue: Op[] = [];
  #context: AgentContext | undefined;
  #outcome: TurnOutcome | undefined;
  #released: { reason: unknown } | undefined;
  #broken: { error: unknown } | undefined;
  #rung = false;
  /** The last stream has ended because it waits. */
  #isParked = false;
  #ring: () => void = () => {};

  constructor(
    context: AgentContext,
    options: TurnOptions,
    init: Omit<TurnInit, 'turnId' | 'turnAbortController' | 'backend'>,
  ) {
    this.agent = context.agent.name;
    this.#session = context.invocation.session;
    const { answerLimits, maxResultBytes } = context.invocation.engine;
    this.#turn = new TurnContext({
      ...init,
      bounds: { answerLimits, maxResultBytes },
      turnId: context.invocation.turnId,
      turnAbortController: new AbortController(),
      backend: this,
    });
    this.#calls = new HeldCalls(this.#turn, (error) => {
      if (error === undefined) this.#wake();
      else this.#break(error);
    });
    const { session } = context.invocation;
    const { at } = session;
    const load = async () => {
      await session.whole();
      const records = recordsOf(context, at);
      for (const kind of ['message', 'thought', 'toolCall'] as const) {
        for (const value of records[kind]) this.#turn.records.apply({ op: 'store', kind, value } as RecordChange);
      }
    };
    runTurn(this.#turn, options, load).then(
      (outcome) => {
        this.#outcome = outcome;
        this.#wake();
      },
      (error: unknown) => this.#break(error),
    );
  }

  /** Goes on until the executor has ended or nothing moves any more. */
  async drive(context: AgentContext, tools: ToolMap, hooks: HookChain): Promise<Outcome> {
    const { invocation, signal } = context;
    const wake = () => this.#wake();
    this.#context = context;
    this.#isParked = false;
    let { waits } = this.#calls;
    const forget = invocation.session.listen(wake);
    signal.addEventListener('abort', wake, { once: true });
    this.#calls.refresh();
    try {
      for (;;) {
        if (signal.aborted) {
          this.release(signal.reason);
          return SUSPENDED;
        }
        if (this.#broken) throw this.#broken.error;
        const { answers } = invocation.fold;
        if (this.#queue.length > 0) {
          await this.#work(context, tools, hooks);
          continue;
        }
        if (await this.#calls.withdraw(context)) continue;
        // Between a call and its result there is no place for words.
        if (!this.#outcome && invocation.fold.open.size === 0 && (await this.#deliver(context))) continue;
        if (this.#calls.resolveSettled(context)) {
          await breath();
          continue;
        }
        this.#calls.refreshChanged();
        this.#calls.settleFresh(context, tools, hooks);
        if (!this.#calls.settling) {
          if (this.#outcome) return await this.#end(context, this.#outcome);
          if (this.#calls.waiting) {
            // What runs beside the waiting call gets a last chance to say something.
            await breath();
            if (this.#queue.length > 0 || this.#outcome || signal.aborted) continue;
            if (invocation.fold.answers === answers) {
              await this.#shown.close(context);
              this.#isParked = true;
              return SUSPENDED;
            }
            this.#calls.refresh();
            continue;
          }
        } else if (!this.#outcome && this.#calls.waiting && this.#calls.waits !== waits) {
          // What runs may itself wait for these.
          waits = this.#calls.waits;
          this.#session.stir?.('answers');
        }
        await this.#bell();
      }
    } catch (error) {
      this.release(error);
      throw error;
    } finally {
      forget();
      signal.removeEventListener('abort', wake);
      this.#context = undefined;
      // It may have gone on while the stream came to its end.
      if (this.#isParked) this.#stirUp();
    }
  }

  release(reason: unknown): void {
    if (this.#released) return;
    this.#released = { reason };
    for (const waiting of this.#queue.splice(0)) waiting.reject(reason);
    this.#calls.reject(reason);
    this.#turn.abort(reason);
  }

  write(change: RecordChange): Promise<void> {
    return this.#do((context) => this.#store(context, change)) as Promise<void>;
  }

  run(
    tool: Tool,
    args: unknown,
    { callId, checksum, signal, elsewhere = false }: ToolRunOptions & { checksum: string },
  ): Promise<unknown> {
    const about = { tool, args, checksum, signal, elsewhere, within: madeWithin() };
    return this.#byId.once(callId, tool.name, checksum, () =>
      this.#enqueue((waiting) => ({ kind: 'call', ...about, ...waiting })),
    );
  }

  delta(kind: 'message' | 'thought', id: string, delta: string): void {
    if (this.#context) this.#shown.show(this.#context, kind, id, delta);
  }

  /** Tokens count for budgets, whoever spent them; an answer that was cut says so. */
  stats(stats: Parameters<NonNullable<TurnBackend['stats']>>[0]): void {
    const { model, finishReason } = stats;
    const usage = usageOfStats(stats);
    const told = {
      ...(usage ? { usage } : {}),
      ...(finishReason === undefined ? {} : { finishReason }),
    };
    if (Object.keys(told).length === 0) return;
    this.#do((context) => context.emit({ ...told, ...(model === undefined ? {} : { model }) })).catch(() => {});
  }

  event(init: ForeignEvent): Promise<void> {
    return this.#do((context) => {
      const event = context.event(init.branch === undefined ? init : { ...init, ...placeOf(context, init.branch) });
      // At the root the author of an event is who speaks next: another framework's agent is none of this tree.
      const isForeign = event.author !== context.agent.name;
      return context.invocation.emit(isForeign ? { ...event, path: `${event.path}/${event.author}` } : event);
    }) as Promise<void>;
  }

  /** Before each run of the executor. */
  arrivals(): Promise<void> {
    return this.#do(async (context) => {
      countRun(context);
      await this.#deliver(context);
    }) as Promise<void>;
  }

  /** Words for the turn are among its messages from here on, whether the function looks again or not. */
  async #deliver(context: AgentContext): Promise<boolean> {
    const delivered = takeSteers(context);
    if (delivered.length === 0) return false;
    const messages = steersOf(context, delivered);
    await context.emit({ author: 'user', actions: { delivered } });
    for (const message of messages) this.#turn.hear(message);
    return true;
  }

  #do(work: (context: AgentContext) => Promise<unknown>): Promise<unknown> {
    return this.#enqueue((waiting) => ({ kind: 'do', work, ...waiting }));
  }

  #enqueue(make: (waiting: Waiting) => Op): Promise<unknown> {
    if (this.#released) return Promise.reject(this.#released.reason);
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#queue.push(make({ resolve, reject }));
    this.#wake();
    return promise;
  }

  /** Does what is queued, in order; calls that stand next to one another become one event. */
  async #work(context: AgentContext, tools: ToolMap, hooks: HookChain): Promise<void> {
    const next = this.#queue[0];
    if (!next) return;
    if (next.kind === 'do') {
      this.#queue.shift();
      try {
        next.resolve(await next.work(context));
      } catch (error) {
        next.reject(error);
      }
      return;
    }
    const calls: Extract<Op, { kind: 'call' }>[] = [];
    while (this.#queue[0]?.kind === 'call') {
      const call = this.#queue.shift() as (typeof calls)[number];
      if (call.signal?.aborted) call.resolve(unwanted(call.signal.reason));
      else calls.push(call);
    }
    if (calls.length === 0) return;
    try {
      await this.#calls.announce(context, tools, hooks, calls);
    } catch (error) {
      for (const call of calls) call.reject(error);
      throw error;
    }
  }

  /** Exactly once for each id: the same again is acknowledged, something else is refused. */
  async #store(context: AgentContext, change: RecordChange): Promise<void> {
    const event = await recordEvent(change);
    if (change.op !== 'store') {
      await context.emit({ ...event, id: newId() });
      return;
    }
    const own = eventIdOf(change.kind, change.value.id);
    const body = canonicalJson({ ...event });
    const known = this.#stored.get(own);
    if (known === body) return;
    if (known !== undefined) throw exists(change.kind, change.value.id);
    if (change.kind === 'toolCall') await context.emit({ ...event, id: newId() });
    else {
      const place = this.#shown.store(own, textOf(change));
      const { customMetadata } = event;
      if ('id' in place) await context.emit({ ...event, id: place.id });
      else
        await context.emit({ ...event, id: newId(), customMetadata: { ...customMetadata, replaces: place.replaces } });
    }
    this.#stored.set(own, body);
  }

  async #end(context: AgentContext, outcome: TurnOutcome): Promise<Outcome> {
    await this.#shown.close(context);
    await this.#calls.abandon(context);
    if (outcome.status === 'ack') return DONE;
    if (outcome.status === 'aborted') {
      context.invocation.abort(this.#turn.abortSignal.reason);
      return SUSPENDED;
    }
    const { error } = outcome;
    if (isCoxswainError(error)) return { kind: 'failed', failure: failureOf(error) };
    const message = error?.message ?? 'the executor gave up';
    const nacked = new CoxswainError('ABORTED', 'E_LLM_EXECUTION_NACKED', message, { cause: error });
    return { kind: 'failed', failure: failureOf(nacked) };
  }

  #break(error: unknown): void {
    this.#broken ??= { error };
    this.#wake();
  }

  #wake(): void {
    this.#rung = true;
    this.#ring();
    if (this.#isParked && !this.#context) this.#stirUp();
  }

  /** Nothing drives it: whoever could is told that there is something to be done. */
  #stirUp(): void {
    if (this.#released) return;
    const hasMore = this.#queue.length > 0 || this.#outcome || this.#broken || this.#calls.unwanted;
    if (hasMore) this.#session.stir?.('stream');
  }

  async #bell(): Promise<void> {
    if (!this.#rung) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#ring = resolve;
      await promise;
    }
    this.#rung = false;
  }
}

function textOf(change: Extract<RecordChange, { op: 'store' }>): string {
  return change.kind === 'toolCall' ? '' : (change.value.content ?? '');
}

function exists(kind: string, id: string): CoxswainError {
  return new CoxswainError(
    'ALREADY_EXISTS',
    'E_EVENT_EXISTS',
    `${kind} ${id} is stored already and says something else`,
  );
}
