import type { AnswerLimits, ModelRequest, ModelResponse, Usage } from '../../contracts/index.ts';

export type { ModelRequest, ModelResponse } from '../../contracts/index.ts';

export interface Model {
  /** As the provider names it. */
  readonly name: string;
  /** The provider, for telemetry, as `gen_ai.provider.name` has it: `openai`, `anthropic`, `gcp.gemini`, … */
  readonly system?: string;
  /** Where it is asked, for telemetry. */
  readonly server?: { readonly address: string; readonly port: number };
  /** Tokens that a request to the model of this name may have; undefined: that is not known. */
  contextWindow?(name: string): number | undefined;
  /**
   * Parts of provider-specific calls carry their own id in `_meta.provider.id`; ids given here are replaced. What the
   * model collects before it gives a frame is held to `answerLimits`; its frames are counted by whoever reads them.
   */
  generate(request: ModelRequest, options: ModelCallOptions): AsyncIterable<ModelResponse>;
}

/** Where a model says what an answer has cost so far. */
export interface CallMeter {
  /** What its provider has reported of this call until now; set by the model while it answers. Undefined: nothing. */
  read?: () => Usage | undefined;
}

/** How a model is asked. */
export interface ModelCallOptions {
  stream: boolean;
  signal: AbortSignal;
  answerLimits?: AnswerLimits;
  /** False: a failure is told at once, since whoever asks has another model to ask. Default true. */
  retry?: boolean;
  /** The share of the turn's limits (tokens, USD, minutes, steps) that is used, from 0; the largest of them. */
  budgetUsed?: number;
  /** A person is asked in this turn, or was: it may be long until the next request. */
  pauses?: boolean;
  /** For a call that may be given up before its last frame. */
  meter?: CallMeter;
}
