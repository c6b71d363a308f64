import type { AnyAgentTool } from '../../contracts/index.ts';
import { CoxswainError } from '../../contracts/index.ts';
import type { AgentCallbacks, AgentContext, Outcome, ResolvedTool, ToolMap, ToolUser } from '../../runtime/index.ts';
import { assertAgentName, failureOf, finishAgent, HookChain, startAgent, toolMap } from '../../runtime/index.ts';
import type { Shape } from '../../session/index.ts';
import {
  anything,
  bag,
  checkOptions,
  either,
  fn,
  list,
  listOf,
  names,
  object,
  off,
  text,
} from '../../session/index.ts';
import { agentContract, Tool, ToolRegistry } from '../tools/index.ts';
import type { DispatchExecutorFn, TurnOptions, WatchdogOptions } from '../turn/index.ts';
import { checkWatchdog, DispatchBuses } from '../turn/index.ts';
import { HeldExecutor } from './held-executor.ts';

export interface DispatchAgentOptions
  extends Omit<TurnOptions, 'executor' | 'watchdog'>,
    Pick<AgentCallbacks, 'beforeAgent' | 'afterAgent' | 'beforeTool' | 'afterTool' | 'onToolError'> {
  name: string;
  description?: string | undefined;
  executor: DispatchExecutorFn;
  tools?: readonly (Tool | AnyAgentTool)[] | undefined;
  systemPrompt?: string | undefined;
  standingInstructions?: readonly string[] | undefined;
  stash?: Readonly<Record<string, unknown>> | undefined;
  /** Watches every turn of this agent. */
  buses?: DispatchBuses | undefined;
  /**
   * Fails a turn whose executor is silent. Default `silenceMs` 600,000 and `unsignalledRuns` 10, each by itself;
   * `false`: only the turn's limits end it.
   */
  watchdog?: WatchdogOptions | false | undefined;
}

const steps = listOf(fn);
const callback = either(fn, steps);
// Names and executors have errors of their own; tools say what is wrong with them.
const shape: Shape<DispatchAgentOptions> = {
  name: anything,
  description: text,
  executor: anything,
  tools: list,
  systemPrompt: text,
  standingInstructions: names,
  stash: bag,
  buses: object,
  watchdog: either(off, object),
  dispatchInputPipeline: steps,
  dispatchOutputPipeline: steps,
  turnInputPipeline: steps,
  turnOutputPipeline: steps,
  beforeAgent: callback,
  afterAgent: callback,
  beforeTool: callback,
  afterTool: callback,
  onToolError: callback,
};

/** An agent has a host that waits for it. */
const WATCHDOG: WatchdogOptions = { silenceMs: 600_000, unsignalledRuns: 10 };

/**
 * An executor as an agent of the runtime: what it stores goes to the session's log, what it reports is shown live,
 * and its tools run through the runtime's gate. While a call waits for somebody, the executor waits in memory.
 * @throws CoxswainError `INVALID_ARGUMENT / E_AGENT_NAME | E_DUPLICATE_TOOL | E_SCHEMA | E_BAD_INPUT`
 * @example
 * ```ts
 * import { fromAgent } from 'coxswain';
 * import { dispatchAgent, Message } from 'coxswain/dispatch';
 *
 * const echo = dispatchAgent({
 *   name: 'echo',
 *   async executor(ctx) {
 *     const content = [...ctx.turnMessages].at(-1)?.content ?? '';
 *     const now = new Date();
 *     const id = crypto.randomUUID();
 *     await ctx.storeMessage(new Message({ id, role: 'assistant', content, createdAt: now, updatedAt: now }));
 *     ctx.ack();
 *   },
 * });
 * fromAgent(echo);
 * ```
 */
export function dispatchAgent(options: DispatchAgentOptions): DispatchAgent {
  return new DispatchAgent(options);
}

export class DispatchAgent implements ToolUser {
  readonly name: string;
  readonly description: string;
  readonly subAgents = [];
  readonly recordsOutcome = true;
  readonly heldInMemory = true;
  readonly tools: ReadonlyMap<string, ResolvedTool>;
  readonly #options: DispatchAgentOptions;
  readonly #own: readonly Tool[];
  readonly #buses: DispatchBuses;

  constructor(options: DispatchAgentOptions) {
    checkOptions<DispatchAgentOptions>(options, 'dispatchAgent: options', shape);
    if (options.watchdog !== false) checkWatchdog(options.watchdog, 'dispatchAgent: options.watchdog');
    assertAgentName(options.name);
    if (typeof options.executor !== 'function') {
      throw new CoxswainError('INVALID_ARGUMENT', 'E_BAD_INPUT', `agent ${options.name}: executor is not a function`);
    }
    this.name = options.name;
    this.description = options.description ?? '';
    this.#options = { ...options };
    this.#own = (options.tools ?? []).map((tool) => (tool instanceof Tool ? tool : Tool.from(tool)));
    this.tools = toolMap(
      this.name,
      this.#own.map((tool) => agentContract(tool)),
    );
    this.#buses = options.buses ?? new DispatchBuses();
  }

  hooks(context: AgentContext): HookChain {
    const { beforeAgent, afterAgent, beforeTool, afterTool, onToolError } = this.#options;
    const own: AgentCallbacks = {
      ...(beforeAgent ? { beforeAgent } : {}),
      ...(afterAgent ? { afterAgent } : {}),
      ...(beforeTool ? { beforeTool } : {}),
      ...(afterTool ? { afterTool } : {}),
      ...(onToolError ? { onToolError } : {}),
    };
    return new HookChain(context.invocation.engine.plugins, own);
  }

  async resolveTools(context: AgentContext): Promise<ToolMap> {
    const { tools: host = [], excludeTools = [] } = context.invocation.options;
    const map = new Map(this.tools);
    for (const descriptor of host) {
      const own = map.get(descriptor.name);
      if (!own?.tool?.execute && !own?.agentTree) map.set(descriptor.name, { descriptor, source: 'host' });
    }
    for (const name of excludeTools) map.delete(name);
    return map;
  }

  async run(context: AgentContext): Promise<Outcome> {
    const hooks = this.hooks(context);
    const ended = await startAgent(context, hooks);
    if (ended) return ended;
    const { held } = context.invocation.session;
    const tools = await this.resolveTools(context);
    let executor = held.get(context.path);
    if (!(executor instanceof HeldExecutor) || executor.agent !== this.name) {
      if (context.activation.own.length > 0) return { kind: 'failed', failure: failureOf(lost(this.name)) };
      executor = this.#begin(context, tools);
      held.set(context.path, executor);
    }
    let outcome: Outcome | undefined;
    try {
      outcome = await (executor as HeldExecutor).drive(context, tools, hooks);
    } finally {
      // One that waits is kept; at the root also one that is done: a late word may bring the turn back here.
      const waits = outcome?.kind === 'suspended' && !context.signal.aborted;
      const isRoot = outcome?.kind === 'done' && context.path === '';
      if (!waits && !isRoot) held.delete(context.path);
    }
    return outcome.kind === 'done' ? finishAgent(context, hooks, outcome) : outcome;
  }

  #begin(context: AgentContext, tools: ToolMap): HeldExecutor {
    const { systemPrompt, standingInstructions, stash } = this.#options;
    const registry = new ToolRegistry(this.#own.filter(({ name }) => tools.has(name)));
    for (const [name, { descriptor, tool }] of tools) {
      if (!registry.has(name)) registry.register(tool ?? (descriptor as AnyAgentTool));
    }
    const init = { buses: this.#buses, tools: registry, systemPrompt, standingInstructions, stash };
    const { watchdog, ...options } = this.#options;
    const watched = watchdog === false ? undefined : { ...WATCHDOG, ...watchdog };
    return new HeldExecutor(context, { ...options, watchdog: watched }, init);
  }
}

function lost(name: string): CoxswainError {
  return new CoxswainError(
    'DATA_LOSS',
    'E_SUSPENSION_LOST',
    `agent ${name} waited in memory and its process is gone; send a new message`,
  );
}
