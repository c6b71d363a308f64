import type { AgentContext } from '../agent/index.ts';
import { mayRepeat } from '../agent/index.ts';
import type { EventActions } from '../log/index.ts';
import type { ReadyCall } from './ready-call.ts';
import { newDecisions } from './ready-call.ts';

/**
 * The starts of calls: each is in the log before its handler begins, and not before its turn has come. Calls that begin
 * together share one append.
 */
export class CallStarts {
  readonly #context: AgentContext;
  readonly #stored = new Set<ReadyCall>();
  #due: ReadyCall[] = [];
  #storing: Promise<void> | undefined;

  constructor(context: AgentContext) {
    this.#context = context;
  }

  /** Whoever takes this into the log has started those of the calls that wait for no turn. */
  first(ready: readonly ReadyCall[]): Partial<EventActions> {
    const begin = ready.slice(0, atOnce(ready, this.#context.invocation.engine.toolConcurrency)).filter(isMarked);
    for (const item of begin) this.#stored.add(item);
    return startsOf(begin);
  }

  /** Its turn has come. Resolves when its start is in the log; undefined: it is there, or need not be. */
  begin(ready: ReadyCall): Promise<void> | undefined {
    if (this.#stored.has(ready) || !isMarked(ready)) return undefined;
    this.#due.push(ready);
    this.#storing ??= Promise.resolve().then(() => this.#store());
    return this.#storing;
  }

  #store(): Promise<void> {
    const due = this.#due;
    this.#due = [];
    this.#storing = undefined;
    return this.#context.invocation.emit(this.#context.event({ actions: startsOf(due) }));
  }
}

/** How many of them begin at once: an exclusive one alone, others up to the number that may run side by side. */
function atOnce(ready: readonly ReadyCall[], concurrency: number): number {
  const alone = ready.findIndex(({ resolved }) => resolved.descriptor.annotations?.exclusive);
  if (alone === 0) return 1;
  return Math.min(alone < 0 ? ready.length : alone, concurrency);
}

/** What a crash could make run twice. */
function isMarked({ resolved }: ReadyCall): boolean {
  return !resolved.agentTree && !mayRepeat(resolved);
}

function startsOf(ready: readonly ReadyCall[]): Partial<EventActions> {
  if (ready.length === 0) return {};
  return { started: ready.map(({ call }) => call.id), ...newDecisions(ready) };
}
