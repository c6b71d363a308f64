import type { LanguageModelV4FinishReason, LanguageModelV4Usage } from '@ai-sdk/provider';
import type { ContentPart, Usage } from '../../../contracts/index.ts';
import type { ModelResponse } from '../../../runtime/index.ts';
import { finishReasonOf } from '../../../runtime/index.ts';
import { addUsage } from '../../../session/index.ts';
import { countsOf, grown, isCount, knownEnd, ProviderFailure } from '../content/index.ts';

/** Continuations of one paused answer. */
const MAX_PAUSES = 8;

/** How an answer ended, by which model, and what it and its continuations have cost. */
export class AnswerEnd {
  readonly #acceptsUnmarked: boolean;
  #end: { unified: string; raw: string | undefined } | undefined;
  #usage: LanguageModelV4Usage | undefined;
  #begunUsage: Usage = {};
  #spent: Usage = {};
  #pauses = 0;
  #model: string | undefined;
  #id: string | undefined;

  /** @param acceptsUnmarked an end without a reason is one */
  constructor(acceptsUnmarked: boolean) {
    this.#acceptsUnmarked = acceptsUnmarked;
  }

  identify({ id, modelId }: { id?: unknown; modelId?: unknown }): void {
    if (typeof id === 'string' && id !== '') this.#id = id;
    if (typeof modelId === 'string' && modelId !== '') this.#model = modelId;
  }

  /** What Anthropic tells at the start: an answer that breaks off has cost that, too. */
  begun({ id, model, usage }: { id?: unknown; model?: unknown; usage?: unknown } = {}): void {
    this.identify({ id, modelId: model });
    const {
      input_tokens: fresh,
      cache_read_input_tokens: read,
      cache_creation_input_tokens: written,
    } = fieldsOf(usage);
    const counts = [fresh, read, written].filter(isCount);
    if (counts.length === 0) return;
    this.#begunUsage = countsOf({
      inputTokens: counts.reduce((sum, count) => sum + count),
      outputTokens: fieldsOf(usage).output_tokens,
      cachedReadTokens: read,
      cacheWriteTokens: written,
      thoughtTokens: undefined,
    });
  }

  finished(end: LanguageModelV4FinishReason | string, usage: LanguageModelV4Usage): void {
    // Before AI SDK 6 the reason was a word alone.
    this.#end = typeof end === 'string' ? { unified: end, raw: undefined } : end;
    this.#usage = usage;
  }

  isWhole(): boolean {
    return this.#end !== undefined;
  }

  /** True once for each pause of the provider: the next chunks belong to the same answer. */
  goesOn(): boolean {
    if (this.#end?.raw !== 'pause_turn' || this.#pauses >= MAX_PAUSES) return false;
    this.#pauses++;
    this.#spent = this.usage() ?? {};
    this.#usage = undefined;
    this.#begunUsage = {};
    this.#end = undefined;
    return true;
  }

  usage(): Usage | undefined {
    const sum = addUsage(this.#spent, grown(this.#begunUsage, this.#usage ? usageOf(this.#usage) : {}));
    return Object.keys(sum).length > 0 ? sum : undefined;
  }

  /** What a response says of it. @param isCut a call of it has no whole arguments */
  facts(
    parts: readonly ContentPart[],
    isCut: boolean,
  ): Pick<ModelResponse, 'finishReason' | 'model' | 'responseId' | 'usage'> {
    const finishReason = this.#reason(parts, isCut);
    const usage = this.usage();
    return {
      finishReason,
      ...(this.#model === undefined ? {} : { model: this.#model }),
      ...(this.#id === undefined ? {} : { responseId: this.#id }),
      ...(usage ? { usage } : {}),
    };
  }

  #reason(parts: readonly ContentPart[], isCut: boolean): string {
    const { unified = 'other', raw } = this.#end ?? {};
    const known = raw === undefined ? undefined : finishReasonOf(raw);
    // It was cut, or refused, whatever it is called in the common words.
    if (isCut || unified === 'length' || known === 'length') return 'length';
    if (known === 'refusal') return 'refusal';
    if (unified === 'content-filter' || known === 'safety') return 'safety';
    if (unified === 'stop' || unified === 'tool-calls') return this.#wholeEnd(parts, raw);
    if (known === 'stop' || known === 'tool_calls') return this.#wholeEnd(parts, raw);
    if (raw !== undefined) return knownEnd(raw);
    if (unified === 'error') throw new ProviderFailure('error', 'the model ended with an error', true);
    if (this.#acceptsUnmarked && unified === 'other' && this.#end) return this.#wholeEnd(parts, raw);
    throw new ProviderFailure('stream_ended', 'the answer ended without a reason: it may have been cut', true);
  }

  #wholeEnd(parts: readonly ContentPart[], raw: string | undefined): string {
    if (raw === 'pause_turn') {
      throw new ProviderFailure('pause_turn', `the provider paused more than ${MAX_PAUSES} times in one answer`, true);
    }
    return parts.some(({ type }) => type === 'function_call') ? 'tool_calls' : 'stop';
  }
}

/** Counts in the form of AI SDK 6 and later, or that of 5. */
function usageOf(usage: LanguageModelV4Usage): Usage {
  const { inputTokens: input, outputTokens: output } = usage as { inputTokens?: unknown; outputTokens?: unknown };
  const { total: inputTotal = input, cacheRead, cacheWrite } = fieldsOf(input);
  const { total: outputTotal = output, reasoning } = fieldsOf(output);
  const flat = usage as { cachedInputTokens?: unknown; reasoningTokens?: unknown };
  return countsOf({
    inputTokens: inputTotal,
    outputTokens: outputTotal,
    cachedReadTokens: cacheRead ?? flat.cachedInputTokens,
    cacheWriteTokens: cacheWrite,
    thoughtTokens: reasoning ?? flat.reasoningTokens,
  });
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
