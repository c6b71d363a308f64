import type { JsonSchema } from '../values/index.ts';
import type { Content } from './content.ts';
import type { Usage } from './events.ts';
import type { ToolDescriptor } from './tools.ts';

/** What a model is asked. Built again for each step; `contents` is the live history: read it, do not keep it. */
export interface ModelRequest {
  model: string;
  systemInstruction: string;
  contents: readonly Content[];
  /** Generation settings, passed through. */
  config: Record<string, unknown>;
  tools: ReadonlyMap<string, ToolDescriptor>;
  /** Name of the asking agent. */
  agent: string;
  /** `compaction`: a summary of earlier messages is wanted. Absent: an answer of the agent. */
  purpose?: 'compaction';
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
  /** Milliseconds after which the provider asks to come back. */
  retryAfterMs?: number;
  /**
   * Models that were asked before the one that this is of, and how each ended. `usage` holds what they reported of theirs.
   * `unreported`: it may be charged for, and nothing was reported of it; an estimate of its tokens, which are in no `usage`.
   */
  tried?: readonly {
    readonly model: string;
    readonly errorCode: string;
    readonly unreported?: { readonly inputTokens: number };
  }[];
  /**
   * The provider has summed up what came before this answer; a part of it has the summary, and goes back as it is.
   * `contextTokens`: what the request had from there on, with this answer; `usage` has what the summary has cost as well.
   */
  compacted?: { readonly contextTokens?: number };
  interrupted?: boolean;
  model?: string;
  /** The provider's own id of it, for telemetry. */
  responseId?: string;
  usage?: Usage;
  citationMetadata?: Record<string, unknown>;
  groundingMetadata?: Record<string, unknown>;
  customMetadata?: Record<string, unknown>;
}

/**
 * A request as a hook is given it: a copy that is the hook's to change, in place or by assignment. What it leaves
 * there is asked, in this call only. The log holds the answer and not the request, so a replay needs neither.
 */
export interface EditableRequest extends ModelRequest {
  contents: Content[];
  /** Declarations, to change or take away; a tool that was taken away cannot be called either. */
  tools: Map<string, ToolDescriptor>;
  readonly agent: string;
}
