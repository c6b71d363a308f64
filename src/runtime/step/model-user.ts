import type { JsonSchema, SchemaLike } from '../../contracts/index.ts';
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
