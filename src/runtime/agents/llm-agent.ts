import { untilAborted } from '../../base/index.ts';
import type {
  AnyAgentTool,
  DepsFrom,
  DepsOfTools,
  JsonSchema,
  OutputOf,
  PolicyEvaluator,
  SchemaLike,
  WithDeps,
  WithOutput,
} from '../../contracts/index.ts';
import { CoxswainError, messageOf } from '../../contracts/index.ts';
import { excludedBy, toJsonSchema } from '../../gate/index.ts';
import type { Agent, AgentContext, AgentTree, ResolvedTool, ToolMap, Toolset } from '../agent/index.ts';
import {
  exceeded,
  finishAgent,
  isHostRun,
  mayEscalate,
  orAbort,
  outputFault,
  resolveTool,
  startAgent,
  toolMap,
} from '../agent/index.ts';
import { settleCalls } from '../calls/index.ts';
import { READ_RESULT } from '../history/index.ts';
import type { AgentCallbacks } from '../hooks/index.ts';
import { HookChain } from '../hooks/index.ts';
import type { Failure, Outcome } from '../log/index.ts';
import { DONE, SUSPENDED, stateValue } from '../log/index.ts';
import type { Model } from '../model/index.ts';
import type { CompactionOptions, Instruction, ModelUser, RequestProcessor } from '../step/index.ts';
import {
  defaultProcessors,
  modelStep,
  needsReader,
  readResultTool,
  steersFor,
  TRANSFER_TOOL,
  takeSteers,
  transferTargets,
  transferTool,
} from '../step/index.ts';
import { agentInput } from './agent-shape.ts';
import type { LlmAgentOptions } from './options.ts';

/**
 * An agent that asks a model what to do until it has an answer.
 * @example
 * ```ts
 * import { LlmAgent } from 'coxswain';
 *
 * const clerk = new LlmAgent({ name: 'clerk', model: 'gpt-5', instruction: 'You work in a shop. Answer in one sentence.' });
 * console.log(clerk.name);
 * ```
 */
export class LlmAgent<
  const Name extends string = string,
  const Output extends SchemaLike | undefined = SchemaLike | undefined,
  const Tools extends readonly AnyAgentTool[] = readonly AnyAgentTool[],
  const Below extends readonly Agent[] = readonly Agent[],
> implements ModelUser, WithOutput<OutputOf<Output>>, WithDeps<DepsOfTools<Tools[number]> & DepsFrom<Below[number]>>
{
  declare readonly '~output'?: OutputOf<Output>;
  declare readonly '~deps'?: (deps: DepsOfTools<Tools[number]> & DepsFrom<Below[number]>) => void;
  readonly name: Name;
  readonly description: string;
  readonly model: Model | string | undefined;
  readonly instruction: Instruction | undefined;
  readonly globalInstruction: Instruction | undefined;
  readonly subAgents: readonly Agent[];
  readonly inputSchema: JsonSchema | undefined;
  readonly outputSchema: JsonSchema | undefined;
  /** What that was made from. */
  readonly outputSource: SchemaLike | undefined;
  readonly outputKey: string | undefined;
  readonly includeContents: 'default' | 'none';
  readonly generateContentConfig: Readonly<Record<string, unknown>>;
  readonly maxIterations: number | undefined;
  readonly disallowTransferToParent: boolean;
  readonly disallowTransferToPeers: boolean;
  readonly transferTargets: readonly string[] | undefined;
  readonly processors: readonly RequestProcessor[];
  readonly compaction: CompactionOptions | false | undefined;
  readonly isConversational = true as const;
  /** The newest failure of each that was reported. */
  readonly #toldFailures = new WeakMap<Toolset, unknown>();
  /** Own tools by name, toolsets excluded. */
  readonly tools: ReadonlyMap<string, ResolvedTool>;
  readonly toolsets: readonly Toolset[];
  readonly #callbacks: AgentCallbacks;
  #hooks: { plugins: unknown; chain: HookChain } | undefined;
  #offered: { host: unknown; excluded: unknown; tree: unknown; reader: boolean; map: ToolMap } | undefined;

  /** @throws CoxswainError `INVALID_ARGUMENT / E_AGENT_NAME | E_DUPLICATE_TOOL | E_SCHEMA | E_STATE_KEY` */
  constructor(
    options: Omit<LlmAgentOptions, 'name' | 'outputSchema' | 'tools' | 'subAgents'> & {
      name: Name;
      outputSchema?: Output;
      tools?: Tools;
      subAgents?: Below;
    },
  ) {
    agentInput.llm(options as LlmAgentOptions);
    this.name = options.name;
    this.description = options.description ?? '';
    this.model = options.model;
    this.instruction = options.instruction;
    this.globalInstruction = options.globalInstruction;
    this.subAgents = [...(options.subAgents ?? [])];
    this.inputSchema = options.inputSchema && toJsonSchema(options.inputSchema);
    this.outputSource = options.outputSchema;
    this.outputSchema = options.outputSchema && toJsonSchema(options.outputSchema);
    this.outputKey = options.outputKey;
    if (this.outputKey !== undefined) stateValue(this.outputKey, null);
    this.includeContents = options.includeContents ?? 'default';
    this.generateContentConfig = { ...options.generateContentConfig };
    this.maxIterations = options.maxIterations;
    this.disallowTransferToParent = options.disallowTransferToParent ?? false;
    this.disallowTransferToPeers = options.disallowTransferToPeers ?? false;
    this.transferTargets = options.transferTargets && [...options.transferTargets];
    this.processors = options.processors ?? defaultProcessors;
    this.compaction = options.compaction && { ...options.compaction };
    this.tools = toolMap(this.name, options.tools ?? []);
    this.toolsets = [...(options.toolsets ?? [])];
    this.#callbacks = options;
  }

  /** Any tool with a handler might; so might the agent that takes over. */
  mayEscalate(): boolean {
    if (this.toolsets.length > 0 || this.subAgents.some(mayEscalate)) return true;
    return [...this.tools.values()].some((resolved) => !isHostRun(resolved) && !resolved.agentTree);
  }

  /**
   * @throws CoxswainError `NOT_FOUND / E_TRANSFER` for a target that is not in the tree, or out of reach;
   *   `INVALID_ARGUMENT / E_DUPLICATE_TOOL` for a tool in the place of the one that hands over
   */
  checkPlace(tree: AgentTree, place: string): void {
    const reachable = new Set(transferTargets(tree, this).map(({ name }) => name));
    if (reachable.size > 0 && this.tools.has(TRANSFER_TOOL)) {
      const message = `agent ${place} has a tool named ${TRANSFER_TOOL}, which is what it hands over with; rename its own`;
      throw new CoxswainError('INVALID_ARGUMENT', 'E_DUPLICATE_TOOL', message);
    }
    for (const name of this.transferTargets ?? []) {
      if (reachable.has(name)) continue;
      const why = tree.find(name) ? 'is neither its sub-agent nor its parent or peer' : 'is not in the tree';
      throw new CoxswainError('NOT_FOUND', 'E_TRANSFER', `agent ${place} is to hand over to ${name}, which ${why}`);
    }
  }

  hooks(context: AgentContext): HookChain {
    const { plugins } = context.invocation.engine;
    if (this.#hooks?.plugins !== plugins) this.#hooks = { plugins, chain: new HookChain(plugins, this.#callbacks) };
    return this.#hooks.chain;
  }

  /**
   * Tools of one step: own, of the toolsets, the host's, and the one that reads results again where some were left out;
   * less those that are excluded. A promise where it waits for any.
   */
  resolveTools(context: AgentContext): ToolMap | Promise<ToolMap> {
    const reader = needsReader(context, this);
    return reader instanceof Promise
      ? reader.then((needed) => this.#resolve(context, needed))
      : this.#resolve(context, reader);
  }

  #resolve(context: AgentContext, reader: boolean): ToolMap | Promise<ToolMap> {
    const { tools: host, excludeTools: excluded } = context.invocation.options;
    const { tree } = context.place;
    const known = this.#offered;
    const isKnown = known?.host === host && known?.excluded === excluded && known?.tree === tree;
    if (known && isKnown && known.reader === reader) return known.map;
    const map = new Map(this.tools);
    return this.toolsets.length === 0 ? this.#offer(context, map, reader) : this.#withToolsets(context, map, reader);
  }

  async #withToolsets(context: AgentContext, map: Map<string, ResolvedTool>, reader: boolean): Promise<ToolMap> {
    for (const toolset of this.toolsets) await this.#addToolset(map, toolset, context);
    return this.#offer(context, map, reader);
  }

  #offer(context: AgentContext, map: Map<string, ResolvedTool>, reader: boolean): ToolMap | Promise<ToolMap> {
    const { tools: host, excludeTools: excluded } = context.invocation.options;
    const { tree } = context.place;
    for (const descriptor of host ?? []) {
      // A tool of the agent's own with a handler stays its own: nobody is replaced behind their back.
      const own = map.get(descriptor.name);
      if (!own?.tool?.execute && !own?.agentTree) map.set(descriptor.name, { descriptor, source: 'host' });
    }
    const targets = transferTargets(tree, this);
    if (targets.length > 0 && map.has(TRANSFER_TOOL)) {
      const { warn } = context.invocation.engine;
      warn(
        `agent ${this.name} is offered a tool named ${TRANSFER_TOOL}, which is what it hands over with; it is left out`,
      );
    }
    if (targets.length > 0) map.set(TRANSFER_TOOL, resolveTool(transferTool(targets), `agent:${this.name}`));
    // One of the agent's own by this name stays what it is.
    if (reader && !map.has(READ_RESULT)) map.set(READ_RESULT, resolveTool(readResultTool, `agent:${this.name}`));
    for (const name of excluded ?? []) map.delete(name);
    // Under host execution the host's policy is the only one, and has had its say.
    const policy = context.invocation.hostRuns ? undefined : context.invocation.engine.policy;
    if (!policy?.getExcluded) {
      if (this.toolsets.length === 0) this.#offered = { host, excluded, tree, reader, map };
      return map;
    }
    const less = (names: readonly string[]) => {
      for (const name of names) map.delete(name);
      return map;
    };
    const names = this.#excludedBy(policy, context);
    return names instanceof Promise ? orAbort(context.signal, names).then(less) : less(names);
  }

  #excludedBy(policy: PolicyEvaluator, { invocation }: AgentContext): readonly string[] | Promise<readonly string[]> {
    const permissionMode = invocation.options.permissionMode ?? invocation.fold.config.permissionMode;
    const scope = { agent: this.name, ...(permissionMode === undefined ? {} : { permissionMode }) };
    return excludedBy(policy, scope);
  }

  async run(context: AgentContext): Promise<Outcome> {
    const hooks = this.hooks(context);
    const starting = startAgent(context, hooks);
    const ended = starting instanceof Promise ? await starting : starting;
    if (ended) return ended;
    let tools: ToolMap | undefined;
    let hasReader = false;
    for (;;) {
      if (context.signal.aborted) return SUSPENDED;
      const { activation } = context;
      // From the first reference on.
      if (!hasReader && tools) {
        const reader = needsReader(context, this);
        hasReader = reader instanceof Promise ? await reader : reader;
        if (hasReader) tools = undefined;
      }
      if (activation.batch.some((call) => !call.settled && !call.interim)) {
        const offered = tools ?? this.resolveTools(context);
        tools = offered instanceof Promise ? await offered : offered;
        if ((await settleCalls(context, activation.batch, tools, hooks)) === 'suspended') return SUSPENDED;
        continue;
      }
      const signalled = this.#signals(context);
      if (signalled) return finishAgent(context, hooks, signalled);
      if (activation.final && !(await this.#steered(context))) {
        const fault = this.outputSchema && (await outputFault(this, activation));
        if (!fault) return finishAgent(context, hooks, DONE);
        // Whoever goes on with a turn that ended so asks for another answer.
        if (activation.steps > activation.base) return { kind: 'failed', failure: fault };
      }
      const failure = this.limitReached(context);
      if (failure) return { kind: 'failed', failure };
      const delivered = takeSteers(context);
      if (delivered.length > 0) await context.emit({ author: 'user', actions: { delivered } });
      // What a toolset offers in this step is what the step's calls are settled with.
      const offered = tools && this.toolsets.length === 0 ? tools : this.resolveTools(context);
      tools = offered instanceof Promise ? await offered : offered;
      const failed = await modelStep(context, this, tools, hooks);
      if (failed) return { kind: 'failed', failure: failed };
      // Stored with what it has said.
      if (context.invocation.end) return DONE;
    }
  }

  /** The limit, if any, that forbids it to ask its model, with so many calls of the turn under way. */
  limitReached({ invocation, activation }: AgentContext, underWay = 0): Failure | undefined {
    return exceeded(invocation.engine.limits, invocation.fold, activation, this.maxIterations, underWay);
  }

  /** What the last batch's tools asked for, read when every call has its response, in call order. */
  #signals(context: AgentContext): Outcome | undefined {
    const { batch } = context.activation;
    if (batch.length === 0) return undefined;
    for (const call of batch) {
      const to = call.effects?.transferToAgent;
      if (to !== undefined && !call.settled?.isError) return { kind: 'done', transfer: { to, callId: call.id } };
    }
    if (batch.some((call) => call.effects?.escalate)) return { kind: 'done', escalate: true };
    if (batch.every((call) => call.effects?.skipSummarization)) return DONE;
    // Only long-running calls without a first word: there is nothing to tell the model yet.
    if (batch.every((call) => call.interim && Object.keys(call.interim).length === 0)) return DONE;
    return undefined;
  }

  async #steered(context: AgentContext): Promise<boolean> {
    await context.invocation.reservations();
    return steersFor(context).length > 0;
  }

  /** One tool that cannot be offered is left out; the others are offered. */
  async #addToolset(map: Map<string, ResolvedTool>, toolset: Toolset, context: AgentContext): Promise<void> {
    const { warn } = context.invocation.engine;
    try {
      // An abort ends the wait for one that does not watch its signal.
      const offered: unknown = await untilAborted(toolset.tools(context), context.signal);
      if (!Array.isArray(offered)) throw new TypeError('it gave no list of tools');
      for (const tool of offered as readonly AnyAgentTool[]) {
        if (typeof (tool as Partial<AnyAgentTool> | null)?.name !== 'string' || tool.name === '') {
          warn(`toolset ${toolset.name} offers a tool without a name`);
          continue;
        }
        if (map.has(tool.name)) {
          warn(`toolset ${toolset.name} offers ${tool.name}, which agent ${this.name} has already`);
          continue;
        }
        try {
          map.set(tool.name, resolveTool(tool, toolset.source ?? `toolset:${toolset.name}`));
        } catch (error) {
          warn(`toolset ${toolset.name} offers ${tool.name}, which is ill-formed: ${messageOf(error)}`, error);
        }
      }
    } catch (error) {
      if (context.signal.aborted) throw error;
      // One that is known to be away fails in the same way at each step.
      if (this.#toldFailures.get(toolset) === error) return;
      this.#toldFailures.set(toolset, error);
      warn(`toolset ${toolset.name} failed: ${messageOf(error)}`, error);
    }
  }
}
