import type {
  AnswerLimits,
  ContentPart,
  PermissionMode,
  PolicyEvaluator,
  Principal,
  ToolDescriptor,
  ToolUpdate,
  TurnTerms,
} from '../../contracts/index.ts';
import type { ResultBounds } from '../../gate/index.ts';
import type { Plugin } from '../hooks/index.ts';
import type { StoredEvent } from '../log/index.ts';
import type { Model } from '../model/index.ts';
import type { ContextServices } from '../services/index.ts';
import type { Telemetry } from './telemetry.ts';
import type { TurnLimits } from './turn-limits.ts';

/** Whose words or progress are shown. */
export interface Shown {
  readonly agent: { readonly name: string };
  readonly place: { readonly thread?: string | undefined };
  readonly invocation: { readonly turnId: string };
}

/** Where a run's events go. */
export interface RunSink {
  /** The inputs were accepted, behind the log's event `at`; what follows are events. */
  accepted(at: number): void;
  /** A stored event, in `seq` order. */
  event(event: StoredEvent): void;
  /** A piece of a message that is being made. */
  delta(context: Shown, messageId: string, part: number, delta: ContentPart): void;
  toolUpdate(context: Shown, callId: string, update: ToolUpdate): void;
  /** What a producer waits for; undefined: go on. */
  room(partial: boolean): Promise<void> | undefined;
  /** Whoever waits goes on, this once. */
  letIn(): void;
  /** The consumer is gone or the run is to end: nobody waits any more. */
  release(): void;
}

/** What a run is made of beside its agents, the same for all runs of a session. */
export interface EngineParts extends ResultBounds {
  readonly plugins: readonly Plugin[];
  readonly policy?: PolicyEvaluator | undefined;
  readonly principal?: Principal | undefined;
  /** Handed to tools, unless a run gives others. */
  readonly deps?: unknown;
  /** Finds a model by name. */
  readonly models?: ((name: string) => Model | undefined) | undefined;
  readonly toolConcurrency: number;
  /** Milliseconds, for tools that set none of their own. */
  readonly toolTimeoutMs?: number | undefined;
  readonly services: ContextServices;
  readonly limits: TurnLimits;
  readonly answerLimits?: AnswerLimits | undefined;
  /** Where spans go; plain subscribers need none. */
  readonly telemetry?: Telemetry | undefined;
  /** Gets what went wrong without consequence for the run. */
  warn(message: string, error?: unknown): void;
  /** For tests: replay without recorded outcomes. */
  readonly ignoreCompleted?: boolean;
}

export interface InvocationOptions {
  streamId?: string | undefined;
  tools?: readonly ToolDescriptor[] | undefined;
  excludeTools?: readonly string[] | undefined;
  model?: string | undefined;
  hostToolExecution?: boolean | undefined;
  streaming?: boolean | undefined;
  permissionMode?: PermissionMode | undefined;
  whilePending?: 'cancel' | 'hold' | 'proceed' | undefined;
  limits?: TurnLimits | undefined;
  signal?: AbortSignal | undefined;
  deps?: unknown;
  traceContext?: Record<string, string> | undefined;
  terms?: TurnTerms | undefined;
}

/** A branch that runs in this process. */
export interface RunningBranch {
  stop(reason: unknown): void;
  /** It writes nothing any more. */
  readonly ended: Promise<void>;
}
