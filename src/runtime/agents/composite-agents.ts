import { kindOf } from '../../base/index.ts';
import type { DepsFrom, WithDeps } from '../../contracts/index.ts';
import { CoxswainError, messageOf } from '../../contracts/index.ts';
import type { Agent, AgentContext, AgentTree } from '../agent/index.ts';
import { childController, finishAgent, mayEscalate, startAgent } from '../agent/index.ts';
import { endOfSlot, releaseWithin, storeEnd } from '../calls/index.ts';
import type { AgentCallbacks, AgentHooks } from '../hooks/index.ts';
import { HookChain } from '../hooks/index.ts';
import type { Outcome } from '../log/index.ts';
import { DONE, isPlainDone } from '../log/index.ts';
import { agentInput } from './agent-shape.ts';
import type { CompositeOptions, LoopOptions } from './options.ts';

/** Options whose name and children are known while a program is compiled. */
type Named<Options extends CompositeOptions, Name, Below> = Omit<Options, 'name' | 'subAgents'> & {
  name: Name;
  subAgents: Below;
};

/**
 * Agents that run other agents hold and store no state: after a pause their loop runs again, and children that have
 * ended return their recorded outcome at once.
 */
abstract class CompositeAgent<Name extends string, Below extends readonly Agent[]>
  implements Agent, WithDeps<DepsFrom<Below[number]>>
{
  declare readonly '~deps'?: (deps: DepsFrom<Below[number]>) => void;
  readonly name: Name;
  readonly description: string;
  readonly subAgents: readonly Agent[];
  readonly #callbacks: Pick<AgentHooks, never> & AgentCallbacks;

  constructor(options: Named<CompositeOptions, Name, Below>) {
    agentInput.composite(options);
    this.name = options.name;
    this.description = options.description ?? '';
    this.subAgents = [...options.subAgents];
    this.#callbacks = {
      ...(options.beforeAgent ? { beforeAgent: options.beforeAgent } : {}),
      ...(options.afterAgent ? { afterAgent: options.afterAgent } : {}),
    };
  }

  mayEscalate(): boolean {
    return this.subAgents.some(mayEscalate);
  }

  async run(context: AgentContext): Promise<Outcome> {
    const hooks = new HookChain(context.invocation.engine.plugins, this.#callbacks);
    const ended = await startAgent(context, hooks);
    if (ended) return ended;
    const outcome = await this.runChildren(context);
    return outcome.kind === 'done' ? finishAgent(context, hooks, outcome) : outcome;
  }

  protected abstract runChildren(context: AgentContext): Promise<Outcome>;
}

/**
 * One child after the other; escalate, transfer, suspension and failure end it at once.
 * @example
 * ```ts
 * import { LlmAgent, SequentialAgent } from 'coxswain';
 *
 * const writer = new LlmAgent({ name: 'writer', model: 'gpt-5', instruction: 'Write a draft.', outputKey: 'draft' });
 * const editor = new LlmAgent({ name: 'editor', model: 'gpt-5', instruction: 'Correct this: {draft}' });
 * new SequentialAgent({ name: 'desk', subAgents: [writer, editor] });
 * ```
 */
export class SequentialAgent<
  const Name extends string = string,
  const Below extends readonly Agent[] = readonly Agent[],
> extends CompositeAgent<Name, Below> {
  protected async runChildren(context: AgentContext): Promise<Outcome> {
    for (const child of this.subAgents) {
      const outcome = await context.run(child);
      if (!isPlainDone(outcome)) return outcome;
    }
    return DONE;
  }
}

export const DEFAULT_LOOP_ITERATIONS = 10;

/**
 * Its children over and over, until one escalates (which ends this loop only) or the cap is reached.
 * @example
 * ```ts
 * import { LlmAgent, LoopAgent } from 'coxswain';
 *
 * const editor = new LlmAgent({ name: 'editor', model: 'gpt-5', instruction: 'Correct the draft once more.' });
 * new LoopAgent({ name: 'rounds', subAgents: [editor], maxIterations: 3 });
 * ```
 */
export class LoopAgent<
  const Name extends string = string,
  const Below extends readonly Agent[] = readonly Agent[],
> extends CompositeAgent<Name, Below> {
  readonly maxIterations: number;

  /** @throws CoxswainError `INVALID_ARGUMENT / E_LOOP_UNBOUNDED` for a loop that can never end */
  constructor(options: Named<LoopOptions, Name, Below>) {
    agentInput.loop(options);
    const { maxIterations = DEFAULT_LOOP_ITERATIONS, ...common } = options;
    super(common as Named<CompositeOptions, Name, Below>);
    this.maxIterations = maxIterations;
    const { subAgents } = this;
    if (subAgents.length > 0 && Number.isInteger(maxIterations) && maxIterations >= 0) return;
    const why = subAgents.length === 0 ? 'no children' : `a maxIterations of ${kindOf(maxIterations)}`;
    const message = `loop ${this.name} has ${why}: give it children, and a whole number or 0 (no cap, a child must exit)`;
    throw new CoxswainError('INVALID_ARGUMENT', 'E_LOOP_UNBOUNDED', message);
  }

  /** What its children say ends this loop only. */
  override mayEscalate(): boolean {
    return false;
  }

  /** @throws CoxswainError `INVALID_ARGUMENT / E_LOOP_UNBOUNDED` for one without a cap that no child could end */
  checkPlace(_: AgentTree, place: string): void {
    if (this.maxIterations > 0 || this.subAgents.some(mayEscalate)) return;
    const children = this.subAgents.map(({ name }) => `${place}/${name}`).join(', ');
    throw new CoxswainError(
      'INVALID_ARGUMENT',
      'E_LOOP_UNBOUNDED',
      `loop ${place} has no cap, and none of ${children} could end it: set maxIterations, or give one exitLoopTool()`,
    );
  }

  protected async runChildren(context: AgentContext): Promise<Outcome> {
    for (let iteration = 0; this.maxIterations === 0 || iteration < this.maxIterations; iteration++) {
      context.invocation.began({ path: context.path, agent: this.name, iteration, thread: context.place.thread ?? '' });
      for (const child of this.subAgents) {
        const outcome = await context.run(child);
        if (outcome.kind !== 'done' || outcome.transfer) return outcome;
        if (outcome.escalate) return DONE;
      }
    }
    return DONE;
  }
}

/**
 * All children at once, each on a branch of its own; peers do not see each other.
 * @example
 * ```ts
 * import { LlmAgent, ParallelAgent } from 'coxswain';
 *
 * const [law, price] = ['law', 'price'].map((name) => new LlmAgent({ name, model: 'gpt-5' }));
 * if (law && price) new ParallelAgent({ name: 'opinions', subAgents: [law, price] });
 * ```
 */
export class ParallelAgent<
  const Name extends string = string,
  const Below extends readonly Agent[] = readonly Agent[],
> extends CompositeAgent<Name, Below> {
  protected async runChildren(context: AgentContext): Promise<Outcome> {
    const { controller, detach } = childController(context.signal);
    const prefix = context.branch === undefined ? this.name : `${context.branch}.${this.name}`;
    try {
      const outcomes = await Promise.all(
        this.subAgents.map((child, index) =>
          this.#runBranch(context, child, index, `${prefix}.${child.name}`, controller),
        ),
      );
      const failed = outcomes.find((outcome) => outcome.kind === 'failed');
      const suspended = outcomes.find((outcome) => outcome.kind === 'suspended');
      const transferred = outcomes.find((outcome) => outcome.kind === 'done' && outcome.transfer);
      if (failed ?? suspended ?? transferred) return (failed ?? suspended ?? transferred) as Outcome;
      return outcomes.some((outcome) => outcome.kind === 'done' && outcome.escalate)
        ? { kind: 'done', escalate: true }
        : DONE;
    } finally {
      detach();
    }
  }

  #endBranch(context: AgentContext, child: Agent, path: string, branch: string, reason: unknown): Promise<void> {
    const { invocation } = context;
    const slot = { path, agent: child.name, outcome: DONE, aborted: true as const, thread: context.threadOf(branch) };
    releaseWithin(invocation.session, path, reason);
    invocation.forgetWithin(path);
    return storeEnd(invocation, () => endOfSlot(invocation.fold, slot, messageOf(reason), invocation.origin()));
  }

  async #runBranch(
    context: AgentContext,
    child: Agent,
    index: number,
    branch: string,
    all: AbortController,
  ): Promise<Outcome> {
    const own = childController(all.signal);
    const over = Promise.withResolvers<void>();
    const forget = context.invocation.branch(context.threadOf(branch), {
      stop: (reason) => own.controller.abort(reason),
      ended: over.promise,
    });
    try {
      // An end of it that is on its way into the log.
      const stored = context.invocation.stored();
      if (stored) await stored;
      const outcome = await context.run(child, { key: String(index), branch, signal: own.controller.signal });
      if (outcome.kind === 'failed') {
        // The turn fails with it: siblings stop now, their open calls are settled with the turn's end.
        all.abort(new CoxswainError('ABORTED', 'E_ABORTED', `branch ${branch} failed`));
      }
      if (outcome.kind !== 'suspended' || !own.controller.signal.aborted || all.signal.aborted) return outcome;
      // Ended by itself (abort of one thread), for good: the others go on.
      await this.#endBranch(context, child, `${context.path}/${index}`, branch, own.controller.signal.reason);
      return DONE;
    } finally {
      forget();
      own.detach();
      over.resolve();
    }
  }
}
