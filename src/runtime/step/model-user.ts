import type { Content, JsonSchema, SchemaLike } from '../../contracts/index.ts';
import type { AgentContext, LimitedAgent, ToolMap, ToolUser } from '../agent/index.ts';
import type { InvocationInfo } from '../hooks/index.ts';
import type { StateView } from '../log/index.ts';
import type { Model, RequestDraft } from '../model/index.ts';
import type { TransferRules } from './transfer.ts';

/** Text with `{key}` placeholders, or a function whose text is taken as it is. */
export type Instruction =
  | string
  | ((context: {
      state: StateView;
      agentPath: readonly string[];
      invocation: InvocationInfo;
    }) => string | Promise<string>);

/** When and how an agent's history is compacted. */
export interface CompactionOptions {
  /** Tokens that a request to its model may have. Default: as far as the model's adapter knows it. */
  window?: number;
  /** Share of the window above which something is left out, above 0 and at most 1. Default 0.8. */
  at?: number;
  /** How many of the newest messages and answers stay as they are. Default 8. */
  keep?: number;
  /**
   * Sums up what is left out: the system instruction for a call of the agent's model, or a function that gives the
   * summary. With no text, or a failure, nothing is left out but results.
   */
  summarise?: string | ((given: GivenRange) => string | undefined | Promise<string | undefined>);
  /**
   * Milliseconds that a function has for a summary; then its signal is aborted, and nothing is summed up. 0: no limit.
   * Default 120,000.
   */
  summariseTimeoutMs?: number;
}

/** Messages that a summary is to stand for. */
interface GivenRange {
  /** Name of the agent whose history it is. */
  readonly agent: string;
  /** The messages as one text; of very long ones without the middle. */
  readonly text: string;
  readonly contents: readonly Content[];
  /** Aborted with the turn, or when the time for a summary is over. */
  readonly signal: AbortSignal;
}

/** What a step needs of the agent that asks a model. */
export interface ModelUser extends ToolUser, LimitedAgent, TransferRules {
  readonly model: Model | string | undefined;
  readonly instruction: Instruction | undefined;
  readonly globalInstruction: Instruction | undefined;
  readonly outputSchema: JsonSchema | undefined;
  /** What that was made from. */
  readonly outputSource: SchemaLike | undefined;
  /** State key that the final text is written to. */
  readonly outputKey: string | undefined;
  /** `none`: only the current turn. */
  readonly includeContents: 'default' | 'none';
  readonly generateContentConfig: Readonly<Record<string, unknown>>;
  readonly processors: readonly RequestProcessor[];
  readonly compaction: CompactionOptions | false | undefined;
}

/** What is known when a request is made. */
export interface StepFacts {
  readonly context: AgentContext;
  readonly agent: ModelUser;
  readonly tools: ToolMap;
}

/** One stage of making a request. What it throws fails the turn. */
export interface RequestProcessor {
  readonly name: string;
  process(facts: StepFacts, draft: RequestDraft): void | Promise<void>;
}
