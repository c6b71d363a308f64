import type {
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  LanguageModelV4ToolCall,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';
import type { ContentPart, Usage } from '../../../contracts/index.ts';
import type { ModelResponse } from '../../../runtime/index.ts';
import { finishReasonOf } from '../../../runtime/index.ts';
import type { AnswerCounter } from '../../../session/index.ts';
import { addUsage, charsOf } from '../../../session/index.ts';
import type { Declarations } from '../../schema/index.ts';
import {
  callPart,
  checkedText,
  countsOf,
  grown,
  isCount,
  knownEnd,
  opaquePart,
  ProviderFailure,
  parseArgs,
  withState,
} from '../content/index.ts';
import type { Decoder } from '../wire/index.ts';
import type { AiSdkState } from './encode.ts';
import { fileIn } from './files.ts';

/** A part of a stream, or the whole of a call without one. */
export type AiSdkChunk =
  | LanguageModelV4StreamPart
  | ({ type: 'whole' } & Pick<LanguageModelV4GenerateResult, 'content' | 'finishReason' | 'usage' | 'response'>);

interface Block {
  part: { type: 'text'; text: string } | { type: 'thought'; thought: string };
  metadata?: Record<string, unknown>;
}

type Metadata = Record<string, unknown> | undefined;

const MAX_PAUSES = 8;

/** Answers of any model of the AI SDK; a paused turn and its continuations are one answer. */
export class AiSdkDecoder implements Decoder<AiSdkChunk> {
  readonly #provider: string;
  readonly #tools: Declarations;
  readonly #counter: AnswerCounter;
  readonly #acceptsUnmarked: boolean;
  /** In their order; a text or thought is a block until the answer is whole. */
  #said: (ContentPart | Block)[] = [];
  #open = new Map<string, Block>();
  /** Calls whose input came in pieces, which were counted. */
  #pieced = new Set<string>();
  #sources: unknown[] = [];
  #end: { unified: string; raw: string | undefined } | undefined;
  #usage: LanguageModelV4Usage | undefined;
  #begunUsage: Usage = {};
  #spent: Usage = {};
  #pauses = 0;
  #model: string | undefined;
  #id: string | undefined;
  #cut = false;

  constructor(provider: string, tools: Declarations, counter: AnswerCounter, acceptsUnmarked: boolean) {
    this.#provider = provider;
    this.#tools = tools;
    this.#counter = counter;
    this.#acceptsUnmarked = acceptsUnmarked;
  }

  /** Parts of the answer so far, for the call that goes on with it. */
  get parts(): readonly ContentPart[] {
    return this.#said.flatMap((item) => this.#partOf(item));
  }

  push(chunk: AiSdkChunk): ContentPart | undefined {
    switch (chunk.type) {
      case 'text-start':
      case 'reasoning-start':
        this.#start(chunk.type === 'text-start' ? { type: 'text', text: '' } : { type: 'thought', thought: '' }, chunk);
        return undefined;
      case 'text-delta':
      case 'reasoning-delta':
        return this.#grow(chunk);
      case 'text-end':
        this.#cite(chunk.citations);
        this.#keepMetadata(this.#open.get(`text ${chunk.id}`), chunk.providerMetadata);
        return undefined;
      case 'reasoning-end':
        this.#keepMetadata(this.#open.get(`reasoning ${chunk.id}`), chunk.providerMetadata);
        return undefined;
      case 'tool-input-start':
        this.#pieced.add(chunk.id);
        return undefined;
      case 'tool-input-delta':
        this.#counter.more('args', charsOf(chunk.delta));
        return undefined;
      case 'response-metadata':
        this.#identify(chunk);
        return undefined;
      case 'finish':
        this.#finished(chunk.finishReason, chunk.usage);
        return undefined;
      case 'whole':
        this.#whole(chunk);
        return undefined;
      case 'tool-input-end':
      case 'stream-start':
      case 'ping':
      case 'raw':
      case 'error':
        return undefined;
      default:
        this.#take(chunk);
        return undefined;
    }
  }

  #whole({ content, finishReason, usage, response = {} }: Extract<AiSdkChunk, { type: 'whole' }>): void {
    if (!Array.isArray(content)) throw new ProviderFailure('bad_response', 'the response holds no answer', true);
    for (const item of content) {
      if (item.type === 'text') {
        this.#cite(item.citations);
        this.#keepMetadata(this.#block({ type: 'text', text: checkedText(item.text) }), item.providerMetadata);
      } else if (item.type === 'reasoning') {
        this.#keepMetadata(this.#block({ type: 'thought', thought: checkedText(item.text) }), item.providerMetadata);
      } else this.#take(item);
    }
    this.#identify(response);
    this.#finished(finishReason, usage);
  }

  #start(
    part: Block['part'],
    { id, type, providerMetadata }: { id: string; type: string; providerMetadata?: Metadata },
  ): void {
    const block = this.#block(part);
    this.#keepMetadata(block, providerMetadata);
    this.#open.set(`${type.split('-')[0]} ${id}`, block);
  }

  #block(part: Block['part']): Block {
    const block: Block = { part };
    this.#said.push(block);
    return block;
  }

  #grow(chunk: Extract<AiSdkChunk, { type: 'text-delta' | 'reasoning-delta' }>): ContentPart | undefined {
    const kind = chunk.type === 'text-delta' ? 'text' : 'reasoning';
    const key = `${kind} ${chunk.id}`;
    if (!this.#open.has(key))
      this.#start(kind === 'text' ? { type: 'text', text: '' } : { type: 'thought', thought: '' }, {
        id: chunk.id,
        type: kind,
      });
    const block = this.#open.get(key);
    const delta = checkedText(chunk.delta);
    this.#keepMetadata(block, chunk.providerMetadata);
    if (!block || delta === '') return undefined;
    if (block.part.type === 'text') {
      block.part.text += delta;
      return { type: 'text', text: delta };
    }
    block.part.thought += delta;
    return { type: 'thought', thought: delta };
  }

  /** What comes with a later piece of a block replaces what came before, as the AI SDK itself has it. */
  #keepMetadata(block: Block | undefined, metadata: Metadata): void {
    if (!block || !metadata || Object.keys(metadata).length === 0) return;
    this.#counter.more('other', charsOf(metadata));
    block.metadata = metadata;
  }

  #cite(citations: readonly unknown[] | undefined): void {
    if (!citations) return;
    this.#counter.more('other', charsOf(citations));
    this.#sources.push(...citations);
  }

  /** Everything of an answer that is neither text nor thought. */
  #take(item: Exclude<LanguageModelV4Content, { type: 'text' | 'reasoning' }>): void {
    switch (item.type) {
      case 'tool-call':
        this.#call(item);
        return;
      case 'source':
        this.#cite([item]);
        return;
      case 'file':
      case 'reasoning-file':
        this.#file(item);
        return;
      case 'tool-approval-request': {
        const message = 'a tool that runs at the provider asks for an approval, which cannot be given from here';
        throw new ProviderFailure('tool_approval_request', message, false);
      }
      case 'tool-result':
        // A later result of the same call replaces one that was on the way.
        if (!item.preliminary) this.#opaque(resultPart(item), item);
        return;
      case 'custom':
        if (item.kind === 'anthropic.message_start') this.#begun(item.providerMetadata?.anthropic);
        else this.#opaque({ type: 'custom', kind: item.kind }, item);
        return;
      default:
        // What a later version of the AI SDK brings has no form in a request of this one.
        return;
    }
  }

  #call(item: LanguageModelV4ToolCall): void {
    const { toolCallId: id, toolName, input, providerExecuted, providerMetadata } = item;
    const { args, cut } = parseArgs(input);
    if (providerExecuted) {
      this.#opaque({ type: 'tool-call', toolCallId: id, toolName, input: args, providerExecuted }, item);
      return;
    }
    this.#counter.more('calls', 1);
    if (!this.#pieced.has(id)) this.#counter.more('args', charsOf(input));
    this.#cut ||= cut;
    const opaque: AiSdkState | undefined = providerMetadata && { metadata: providerMetadata };
    const state = { name: this.#provider, ...(id ? { id } : {}), ...(opaque ? { opaque } : {}) };
    this.#said.push(callPart(this.#tools.nameOf(toolName), this.#tools.argsOf(toolName, args), state));
  }

  #file({
    type,
    mediaType,
    data,
    providerMetadata,
  }: Extract<LanguageModelV4Content, { type: 'file' | 'reasoning-file' }>): void {
    const file = fileIn(data);
    if (!file) throw new ProviderFailure('bad_response', 'a file in the answer has neither bytes nor an address', true);
    if (type === 'reasoning-file') {
      const form = 'data' in file ? { type: 'data', ...file } : { type: 'url', url: file.uri };
      this.#opaque({ type, mediaType, data: form }, { providerMetadata });
      return;
    }
    const part: ContentPart = { type: 'media', mimeType: mediaType, ...file };
    this.#counter.more('other', charsOf(part));
    const opaque: AiSdkState | undefined = providerMetadata && { metadata: providerMetadata };
    this.#said.push(opaque ? withState(part, { name: this.#provider, opaque }) : part);
  }

  #opaque(part: Record<string, unknown>, { providerMetadata }: { providerMetadata?: Metadata }): void {
    const whole = { ...part, ...(providerMetadata ? { providerOptions: providerMetadata } : {}) };
    this.#counter.more('other', charsOf(whole));
    this.#said.push(opaquePart(this.#provider, { part: whole } satisfies AiSdkState));
  }

  #identify({ id, modelId }: { id?: unknown; modelId?: unknown }): void {
    if (typeof id === 'string' && id !== '') this.#id = id;
    if (typeof modelId === 'string' && modelId !== '') this.#model = modelId;
  }

  /** What Anthropic tells at the start: an answer that breaks off has cost that, too. */
  #begun({ id, model, usage }: { id?: unknown; model?: unknown; usage?: unknown } = {}): void {
    this.#identify({ id, modelId: model });
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

  #finished(end: LanguageModelV4FinishReason | string, usage: LanguageModelV4Usage): void {
    // Before AI SDK 6 the reason was a word alone.
    this.#end = typeof end === 'string' ? { unified: end, raw: undefined } : end;
    this.#usage = usage;
  }

  isWhole(): boolean {
    return this.#end !== undefined;
  }

  goesOn(): boolean {
    if (this.#end?.raw !== 'pause_turn' || this.#pauses >= MAX_PAUSES) return false;
    this.#pauses++;
    this.#spent = this.usage() ?? {};
    this.#usage = undefined;
    this.#begunUsage = {};
    this.#end = undefined;
    this.#open.clear();
    return true;
  }

  usage(): Usage | undefined {
    const sum = addUsage(this.#spent, grown(this.#begunUsage, this.#usage ? usageOf(this.#usage) : {}));
    return Object.keys(sum).length > 0 ? sum : undefined;
  }

  finish(): ModelResponse {
    const parts = [...this.parts];
    const finishReason = this.#reason(parts);
    const usage = this.usage();
    return {
      content: { role: 'model', parts },
      turnComplete: true,
      finishReason,
      ...(this.#model === undefined ? {} : { model: this.#model }),
      ...(this.#id === undefined ? {} : { responseId: this.#id }),
      ...(usage ? { usage } : {}),
      ...(this.#sources.length > 0 ? { citationMetadata: { citations: this.#sources } } : {}),
    };
  }

  #reason(parts: readonly ContentPart[]): string {
    const { unified = 'other', raw } = this.#end ?? {};
    const known = raw === undefined ? undefined : finishReasonOf(raw);
    // It was cut, or refused, whatever it is called in the common words.
    if (this.#cut || unified === 'length' || known === 'length') return 'length';
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

  #partOf(item: ContentPart | Block): ContentPart[] {
    if (!('part' in item)) return [item];
    const { part, metadata } = item as Block;
    const state = { name: this.#provider, ...(metadata ? { opaque: { metadata } satisfies AiSdkState } : {}) };
    if (part.type === 'thought') return part.thought === '' && !metadata ? [] : [withState(part, state)];
    if (metadata) return [withState(part, state)];
    return part.text === '' ? [] : [part];
  }
}

function resultPart({
  toolCallId,
  toolName,
  result,
  isError,
}: Extract<LanguageModelV4Content, { type: 'tool-result' }>): Record<string, unknown> {
  return {
    type: 'tool-result',
    toolCallId,
    toolName,
    output: { type: isError ? 'error-json' : 'json', value: result },
  };
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
