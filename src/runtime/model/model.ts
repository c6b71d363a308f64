import type { AnswerLimits, Content, JsonSchema, ToolDescriptor, Usage } from '../../contracts/index.ts';

/** What a model is asked. Built anew for each step; `contents` is the live history: read it, do not keep it. */
export interface ModelRequest {
  model: string;
  systemInstruction: string;
  contents: readonly Content[];
  /** Generation settings, passed through. */
  config: Record<string, unknown>;
  tools: ReadonlyMap<string, ToolDescriptor>;
  /** Name of the asking agent. */
  agent: string;
  outputSchema?: JsonSchema;
}

/**
 * One frame of a model's answer. Partial frames carry one part's delta; the last frame is not partial and carries
 * the whole, streaming or not.
 */
export interface ModelResponse {
  content?: Content;
  partial?: boolean;
  turnComplete?: boolean;
  /** `stop`, `length`, `tool_calls`, `refusal`, `safety`, or a provider's word for one; another word is a failure. */
  finishReason?: string;
  errorCode?: string;
  errorMessage?: string;
  /** The same request may succeed later. */
  retryable?: boolean;
  interrupted?: boolean;
  model?: string;
  /** The provider's own id of it, for telemetry. */
  responseId?: string;
  usage?: Usage;
  citationMetadata?: Record<string, unknown>;
  groundingMetadata?: Record<string, unknown>;
  customMetadata?: Record<string, unknown>;
}

export interface Model {
  /** As the provider names it. */
  readonly name: string;
  /** The provider, for telemetry, as `gen_ai.provider.name` has it: `openai`, `anthropic`, `gcp.gemini`, … */
  readonly system?: string;
  /** Where it is asked, for telemetry. */
  readonly server?: { readonly address: string; readonly port: number };
  /**
   * Parts of provider-specific calls carry their own id in `_meta.provider.id`; ids given here are replaced. What the
   * model collects before it gives a frame is held to `answerLimits`; its frames are counted by whoever reads them.
   */
  generate(
    request: ModelRequest,
    options: { stream: boolean; signal: AbortSignal; answerLimits?: AnswerLimits },
  ): AsyncIterable<ModelResponse>;
}
