import type { AnyAgentTool, Content, ContentPart, SchemaLike } from '../../contracts/index.ts';
import type { Agent, Toolset } from '../agent/index.ts';
import type { AgentCallbacks, InvocationInfo } from '../hooks/index.ts';
import type { EventActions, Outcome, StateView } from '../log/index.ts';
import type { Model } from '../model/index.ts';
import type { CompactionOptions, Instruction, RequestProcessor } from '../step/index.ts';

export interface LlmAgentOptions extends AgentCallbacks {
  name: string;
  description?: string;
  /** A model, or the name of one that the runner knows. Absent: the run's or the nearest ancestor's. */
  model?: Model | string;
  instruction?: Instruction;
  /** For this agent and, on the root, every agent of the tree. */
  globalInstruction?: Instruction;
  tools?: readonly AnyAgentTool[];
  toolsets?: readonly Toolset[];
  subAgents?: readonly Agent[];
  inputSchema?: SchemaLike;
  outputSchema?: SchemaLike;
  /** State key that the final text is written to. */
  outputKey?: string;
  /** `none`: only the current turn. Default `default`. */
  includeContents?: 'default' | 'none';
  /**
   * When and how the history that the model is sent is shortened; the log stays whole. `false`: never. Default: at 80 % of
   * the model's context window, where that is known.
   */
  compaction?: CompactionOptions | false;
  /** Passed through to the model. */
  generateContentConfig?: Record<string, unknown>;
  /** Model calls of one run of this agent. Default 25. */
  maxIterations?: number;
  disallowTransferToParent?: boolean;
  disallowTransferToPeers?: boolean;
  /** Names of those that it may hand over to. Default: all that its place allows. */
  transferTargets?: readonly string[];
  /** Default: {@link defaultProcessors}. */
  processors?: readonly RequestProcessor[];
}

export interface CompositeOptions extends Pick<AgentCallbacks, 'beforeAgent' | 'afterAgent'> {
  name: string;
  description?: string;
  subAgents: readonly Agent[];
}

export interface LoopOptions extends CompositeOptions {
  /** 0: no cap; then a child must escalate. Default 10. */
  maxIterations?: number;
}

/** What an event of a custom agent may do. */
export type EmittedActions = Pick<EventActions, 'stateDelta' | 'artifactDelta' | 'escalate'>;

export interface CustomContext {
  readonly signal: AbortSignal;
  readonly state: StateView;
  readonly invocation: InvocationInfo;
  readonly agentPath: readonly string[];
  /**
   * Text, parts, or content with what it does; author, place and time are filled in. `escalate` ends the nearest loop
   * once the function has ended.
   * @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` for actions that are the runtime's
   */
  emit(content: string | ContentPart[] | { content?: Content; actions?: Partial<EmittedActions> }): Promise<void>;
  /** Runs a sub-agent. What follows is reached only when it is done; see the class. */
  run(agent: Agent): Promise<Outcome>;
  /** Runs a piece of work once and remembers its JSON value: a clock, a random number, a request. */
  step<T>(name: string, work: () => T | Promise<T>): Promise<T>;
  /** Ends the nearest loop. */
  escalate(): void;
}

export interface CustomAgentOptions extends Pick<AgentCallbacks, 'beforeAgent' | 'afterAgent'> {
  name: string;
  description?: string;
  subAgents?: readonly Agent[];
  run(context: CustomContext): void | Promise<void>;
}
