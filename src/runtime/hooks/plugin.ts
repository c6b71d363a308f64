import { untilAborted } from '../../base/index.ts';
import type {
  Content,
  HookResult,
  PolicyEvaluator,
  ToolDescriptor,
  ToolResult,
  ToolReturn,
} from '../../contracts/index.ts';
import type { StoredEvent } from '../log/index.ts';
import type { ModelRequest, ModelResponse } from '../model/index.ts';
import type { CallbackContext, ToolContext } from './callback-context.ts';
import type { EditableRequest } from './editable-request.ts';
import type { InvocationInfo } from './invocation-info.ts';

type Maybe<T> = T | undefined | Promise<T | undefined>;

/**
 * What a before_tool hook returns: nothing (go on), a {@link HookResult} (`modifications.args` changes the
 * arguments), or any other object: the call's result, and the tool does not run.
 */
export type BeforeToolReturn = HookResult | Record<string, unknown>;

/** Hooks around an agent, its model and its tools. */
export interface AgentHooks {
  /** Content instead of running the agent. */
  beforeAgent?(context: CallbackContext): Maybe<Content>;
  /** Content that replaces the agent's output. */
  afterAgent?(context: CallbackContext): Maybe<Content>;
  /** A response instead of asking the model. Without one, the model is asked what the hook has made of `request`. */
  beforeModel?(context: CallbackContext, request: EditableRequest): Maybe<ModelResponse>;
  /** Replaces the model's final response. */
  afterModel?(context: CallbackContext, response: ModelResponse): Maybe<ModelResponse>;
  beforeTool?(context: ToolContext, tool: ToolDescriptor, args: Record<string, unknown>): Maybe<BeforeToolReturn>;
  /** Replaces the result. */
  afterTool?(
    context: ToolContext,
    tool: ToolDescriptor,
    args: Record<string, unknown>,
    result: ToolResult,
  ): Maybe<ToolReturn>;
  /** A response instead of the error. */
  onModelError?(context: CallbackContext, request: ModelRequest, error: unknown): Maybe<ModelResponse>;
  /** A result instead of the error. */
  onToolError?(
    context: ToolContext,
    tool: ToolDescriptor,
    args: Record<string, unknown>,
    error: unknown,
  ): Maybe<ToolReturn>;
}

/**
 * Twelve optional hooks over a whole run. Plugins come before an agent's own callbacks at every point; the first
 * that returns something wins, later ones are not called. State written by a hook that returns nothing is kept.
 */
export interface Plugin extends AgentHooks {
  readonly name: string;
  /** Decides on calls together with the runner's own policy: the stricter word counts. */
  readonly policy?: PolicyEvaluator;
  /** Replaces the message before it is stored. */
  onUserMessage?(info: InvocationInfo, content: Content): Maybe<Content>;
  /** Content instead of running any agent. */
  beforeRun?(info: InvocationInfo): Maybe<Content>;
  /** Told that the run has ended; what it returns is ignored. */
  afterRun?(info: InvocationInfo): void | Promise<void>;
  /** Replaces an event before it is stored; its identity and place stay. */
  onEvent?(info: InvocationInfo, event: StoredEvent): Maybe<StoredEvent>;
}

export type HookName = keyof AgentHooks;

type OneOrMore<T> = T | readonly T[];
/** An agent's own hooks; several of a kind are asked in order. */
export type AgentCallbacks = { [K in HookName]?: OneOrMore<NonNullable<AgentHooks[K]>> };

/** The hooks of one point, plugins first, in the order in which they are asked. */
export class HookChain {
  readonly #lists: { readonly [K in HookName]?: readonly NonNullable<AgentHooks[K]>[] };

  constructor(plugins: readonly Plugin[], callbacks: AgentCallbacks) {
    const lists: Record<string, unknown[]> = {};
    for (const name of hookNames) {
      const list = [
        ...plugins.flatMap((plugin) => (plugin[name] ? [plugin[name].bind(plugin)] : [])),
        ...[callbacks[name] ?? []].flat(),
      ];
      if (list.length > 0) lists[name] = list;
    }
    this.#lists = lists;
  }

  has(name: HookName): boolean {
    return this.#lists[name] !== undefined;
  }

  /** Asks one hook after the other until one returns something. */
  async first<K extends HookName>(
    name: K,
    ...args: Parameters<NonNullable<AgentHooks[K]>>
  ): Promise<Awaited<ReturnType<NonNullable<AgentHooks[K]>>>> {
    for (const hook of this.#lists[name] ?? []) {
      const given = (hook as (...given: unknown[]) => unknown)(...args);
      // An abort ends the wait for a hook that does not watch its signal.
      const value = await untilAborted(given, args[0].runSignal);
      if (value !== undefined && value !== null) return value as never;
    }
    return undefined as never;
  }
}

const hookNames: readonly HookName[] = [
  'beforeAgent',
  'afterAgent',
  'beforeModel',
  'afterModel',
  'beforeTool',
  'afterTool',
  'onModelError',
  'onToolError',
];
