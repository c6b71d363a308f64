import type {
  AnswerLimits,
  AnyAgentTool,
  LifecycleInterceptor,
  PolicyEvaluator,
  Principal,
  SchemaLike,
} from '../../contracts/index.ts';
import type { Model, Plugin, Telemetry } from '../../runtime/index.ts';

/** Which model, and what it is told. */
export interface GenerateOptions {
  /** A model, or the name of one that `models` knows; without `models` the environment's keys are used. */
  model: Model | string;
  models?: (name: string) => Model | undefined;
  /** Taken as it is: nothing is filled in. */
  systemInstruction?: string;
  /** Generation settings, passed through: `temperature`, `maxOutputTokens`, … */
  config?: Readonly<Record<string, unknown>>;
  /** A list, or `FunctionTools`. */
  tools?: Iterable<AnyAgentTool>;
  /** The final answer's text is JSON of this form. */
  outputSchema?: SchemaLike;
  /** Of each answer of the model. */
  answerLimits?: AnswerLimits;
  signal?: AbortSignal;
}

/** A call that somebody must approve: its tool or the policy wants it. */
export interface CallToApprove {
  readonly callId: string;
  readonly name: string;
  /** What would run. */
  readonly args: Readonly<Record<string, unknown>>;
  readonly message: string;
}

/** How calls are judged and run. */
export interface ExecuteOptions {
  /** Default: tools run, unless they ask for approval themselves. */
  policy?: PolicyEvaluator;
  principal?: Principal;
  /** Says yes or no to a call. Absent, throwing, or anything but true: no. */
  onApproval?: (request: CallToApprove, context: { signal: AbortSignal }) => boolean | Promise<boolean>;
  /** Milliseconds that one call may run, unless its tool says otherwise. Default 30,000; 0: no limit. */
  toolTimeoutMs?: number;
  /** Of each answer of the model; also how many calls run at once. */
  answerLimits?: AnswerLimits;
  /** Calls of one round that run side by side. Default 64. */
  toolConcurrency?: number;
  /** Asked in this order, before `plugins`: `cacheToolResults()`, your own, … */
  hooks?: LifecycleInterceptor | readonly LifecycleInterceptor[];
  /** @deprecated Write `hooks`: this is its former name. */
  interceptors?: readonly LifecycleInterceptor[];
  plugins?: readonly Plugin[];
  /** Where spans go, e.g. `otelTelemetry()`. */
  telemetry?: Telemetry;
  /** Handed to tools, never logged. */
  deps?: unknown;
  signal?: AbortSignal;
  /** Gets what went wrong without consequence. Default: stderr. */
  warn?: (message: string, error?: unknown) => void;
}

/** Where a request is. */
export type AutoToolsPhase = 'awaiting_model_call' | 'executing_tools' | 'awaiting_final_response' | 'ended';

export interface AutoToolsOptions extends GenerateOptions, ExecuteOptions {
  /** Model calls that one request may take. Default 10. */
  turnLimit?: number;
  /** One that throws is warned of; the request goes on. */
  onPhase?: (phase: AutoToolsPhase) => void;
}

export const DEFAULT_TURN_LIMIT = 10;
export const DEFAULT_AUTO_TOOL_TIMEOUT_MS = 30_000;
