import type { Candidate, GenerateContentResponse, GenerateContentResponseUsageMetadata, Part } from '@google/genai';
import type { ContentPart, Usage } from '../../../contracts/index.ts';
import type { ModelResponse } from '../../../runtime/index.ts';
import type { AnswerCounter } from '../../../session/index.ts';
import { charsOf } from '../../../session/index.ts';
import type { Declarations } from '../../schema/index.ts';
import {
  bodyFailure,
  callPart,
  checkedText,
  countsOf,
  grown,
  isCount,
  knownEnd,
  laterEnd,
  opaquePart,
  ProviderFailure,
  withState,
} from '../content/index.ts';
import type { Decoder } from '../wire/index.ts';
import type { GeminiState } from './encode.ts';

/** The model made a mess of its answer; another try may not. */
const garbled = new Set(['MALFORMED_FUNCTION_CALL', 'MALFORMED_RESPONSE', 'UNEXPECTED_TOOL_CALL']);
/** Our request was at fault, or the model cannot do it. */
const refused = new Set(['MISSING_THOUGHT_SIGNATURE', 'TOO_MANY_TOOL_CALLS']);

/** generateContent, streamed or whole: a stream's chunks have the shape of the whole. */
export class GeminiDecoder implements Decoder<GenerateContentResponse> {
  readonly #provider: string;
  readonly #tools: Declarations;
  readonly #counter: AnswerCounter;
  #parts: ContentPart[] = [];
  #finish: string | undefined;
  #finishMessage: string | undefined;
  #blockReason: string | undefined;
  #blockMessage: string | undefined;
  #usage: GenerateContentResponseUsageMetadata | undefined;
  #model: string | undefined;
  #id: string | undefined;
  #isBegun = false;
  #grounding: Candidate['groundingMetadata'];
  #citations: Candidate['citationMetadata'];

  constructor(provider: string, tools: Declarations, counter: AnswerCounter) {
    this.#provider = provider;
    this.#tools = tools;
    this.#counter = counter;
  }

  push(chunk: GenerateContentResponse): ContentPart[] | undefined {
    const failed = (chunk as { error?: unknown }).error;
    if (chunk.usageMetadata) this.#usage = grown(this.#usage, chunk.usageMetadata);
    if (failed) throw bodyFailure(failed);
    if (chunk.modelVersion) this.#model = chunk.modelVersion;
    if (chunk.responseId) this.#id = chunk.responseId;
    const { blockReason, blockReasonMessage } = chunk.promptFeedback ?? {};
    if (blockReason) this.#blockReason = blockReason;
    if (blockReasonMessage) this.#blockMessage = blockReasonMessage;
    const candidate = chunk.candidates?.[0];
    if (!candidate) return undefined;
    this.#isBegun = true;
    if (candidate.finishReason) this.#finish = laterEnd(this.#finish, candidate.finishReason);
    if (candidate.finishMessage) this.#finishMessage = candidate.finishMessage;
    this.#grounding = candidate.groundingMetadata ?? this.#grounding;
    this.#citations = candidate.citationMetadata ?? this.#citations;
    let shown: ContentPart[] | undefined;
    for (const part of candidate.content?.parts ?? []) {
      const delta = this.#take(part);
      if (!delta) continue;
      shown ??= [];
      shown.push(delta);
    }
    return shown;
  }

  #take(part: Part): ContentPart | undefined {
    const { functionCall, thoughtSignature } = part;
    if (thoughtSignature) this.#counter.more('other', charsOf(thoughtSignature));
    if (functionCall) {
      const { id, name = '', willContinue, partialArgs } = functionCall;
      if (willContinue || partialArgs?.length) {
        const message = `the arguments of the call of ${checkedText(name)} come in pieces, which is not understood here`;
        throw new ProviderFailure('bad_response', message, false);
      }
      this.#counter.more('calls', 1);
      this.#counter.more('args', charsOf(functionCall.args ?? {}));
      const state = { name: this.#provider, ...(id ? { id } : {}), ...signedWith(thoughtSignature) };
      this.#parts.push(callPart(this.#tools.nameOf(name), this.#tools.argsOf(name, functionCall.args ?? {}), state));
      return undefined;
    }
    // Null stands for nothing in the JSON of some servers.
    if (part.text === undefined || part.text === null) {
      this.#counter.more('other', charsOf(part));
      this.#parts.push(this.#other(part));
      return undefined;
    }
    const text = checkedText(part.text);
    if (text === '' && thoughtSignature === undefined) return undefined;
    const taken: ContentPart = part.thought ? { type: 'thought', thought: text } : { type: 'text', text };
    this.#add(taken, thoughtSignature);
    return text === '' ? undefined : taken;
  }

  /** Pieces of one text grow together; a signed piece stays apart, with its signature on it alone. */
  #add(part: ContentPart, signature: string | undefined): void {
    const last = this.#parts.at(-1);
    if (signature !== undefined) {
      const signed: ContentPart = part.type === 'thought' ? { ...part, signature } : part;
      this.#parts.push(withState(signed, { name: this.#provider, ...signedWith(signature) }));
    } else if (part.type === 'text') {
      if (last?.type === 'text' && !last._meta) last.text += part.text;
      else this.#parts.push({ ...part });
    } else if (part.type === 'thought') {
      if (last?.type === 'thought' && last.signature === undefined) last.thought += part.thought;
      else this.#parts.push(withState(part, { name: this.#provider }));
    }
  }

  #other(part: Part): ContentPart {
    const { inlineData, fileData, executableCode, codeExecutionResult } = part;
    const state = { name: this.#provider, opaque: { part } satisfies GeminiState };
    if (inlineData) {
      const media: ContentPart = {
        type: 'media',
        mimeType: inlineData.mimeType ?? 'application/octet-stream',
        ...(inlineData.data === undefined ? {} : { data: inlineData.data }),
      };
      const signature = part.thoughtSignature;
      return signature === undefined ? media : withState(media, { name: this.#provider, ...signedWith(signature) });
    }
    if (fileData) {
      const { mimeType = 'application/octet-stream', fileUri } = fileData;
      return withState({ type: 'media', mimeType, ...(fileUri === undefined ? {} : { uri: fileUri }) }, state);
    }
    if (executableCode) {
      const { language, code } = executableCode;
      return withState({ type: 'code', language: (language ?? '').toLowerCase(), code: code ?? '' }, state);
    }
    if (codeExecutionResult) return withState({ type: 'code_result', output: codeExecutionResult.output ?? '' }, state);
    return opaquePart(this.#provider, { part });
  }

  usage(): Usage | undefined {
    return this.#usage && usageOf(this.#usage);
  }

  finish({ stream }: { stream: boolean }): ModelResponse {
    const finish = this.#finish;
    if (finish !== undefined && (garbled.has(finish) || refused.has(finish))) {
      const message = this.#finishMessage ?? 'the model did not come to an answer';
      throw new ProviderFailure(finish.toLowerCase(), message, garbled.has(finish));
    }
    if (finish === undefined && this.#blockReason === undefined && stream) {
      throw new ProviderFailure('stream_ended', 'the stream ended before the answer did', true);
    }
    if (!this.#isBegun && this.#blockReason === undefined) {
      throw new ProviderFailure('bad_response', 'the response holds no answer', true);
    }
    if (this.#blockReason !== undefined) {
      const text = this.#blockMessage ?? `the prompt was blocked: ${this.#blockReason}`;
      this.#parts.push({ type: 'refusal', text });
    }
    const usage = this.usage();
    return {
      content: { role: 'model', parts: this.#parts },
      turnComplete: true,
      finishReason: this.#reason(),
      ...(this.#model === undefined ? {} : { model: this.#model }),
      ...(this.#id === undefined ? {} : { responseId: this.#id }),
      ...(usage ? { usage } : {}),
      ...(this.#grounding ? { groundingMetadata: this.#grounding as Record<string, unknown> } : {}),
      ...(this.#citations ? { citationMetadata: this.#citations as Record<string, unknown> } : {}),
    };
  }

  #reason(): string {
    if (this.#blockReason !== undefined) return 'safety';
    const finish = this.#finish;
    // What is unspecified is as good as left out.
    const end = finish === undefined || finish === 'FINISH_REASON_UNSPECIFIED' ? 'stop' : knownEnd(finish);
    if (end !== 'stop' && end !== 'tool_calls') return end;
    return this.#parts.some((part) => part.type === 'function_call') ? 'tool_calls' : 'stop';
  }
}

function signedWith(thoughtSignature: string | undefined): { opaque?: GeminiState } {
  return thoughtSignature === undefined ? {} : { opaque: { thoughtSignature } };
}

/** Output counts what was thought, as with the other providers. */
function usageOf(usage: GenerateContentResponseUsageMetadata): Usage {
  const { promptTokenCount, toolUsePromptTokenCount, candidatesTokenCount, thoughtsTokenCount } = usage;
  return countsOf({
    inputTokens: sumOf(promptTokenCount, toolUsePromptTokenCount),
    outputTokens: sumOf(candidatesTokenCount, thoughtsTokenCount),
    cachedReadTokens: usage.cachedContentTokenCount,
    cacheWriteTokens: undefined,
    thoughtTokens: thoughtsTokenCount,
  });
}

function sumOf(...counts: (number | undefined)[]): number | undefined {
  const some = counts.filter(isCount);
  return some.length === 0 ? undefined : some.reduce((sum, count) => sum + count);
}
