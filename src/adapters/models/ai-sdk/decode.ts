import type {
  LanguageModelV4Content,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  LanguageModelV4ToolCall,
} from '@ai-sdk/provider';
import type { ContentPart, Usage } from '../../../contracts/index.ts';
import type { ModelResponse } from '../../../runtime/index.ts';
import type { AnswerCounter } from '../../../session/index.ts';
import { charsOf } from '../../../session/index.ts';
import type { Declarations } from '../../schema/index.ts';
import { callPart, checkedText, opaquePart, ProviderFailure, parseArgs, withState } from '../content/index.ts';
import type { Decoder } from '../wire/index.ts';
import { AnswerEnd } from './answer-end.ts';
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

/** Answers of any model of the AI SDK; a paused turn and its continuations are one answer. */
export class AiSdkDecoder implements Decoder<AiSdkChunk> {
  readonly #provider: string;
  readonly #tools: Declarations;
  readonly #counter: AnswerCounter;
  readonly #end: AnswerEnd;
  /** In their order; a text or thought is a block until the answer is whole. */
  #said: (ContentPart | Block)[] = [];
  #open = new Map<string, Block>();
  /** Calls whose input came in pieces, which were counted. */
  #pieced = new Set<string>();
  #sources: unknown[] = [];
  #cut = false;

  constructor(provider: string, tools: Declarations, counter: AnswerCounter, acceptsUnmarked: boolean) {
    this.#provider = provider;
    this.#tools = tools;
    this.#counter = counter;
    this.#end = new AnswerEnd(acceptsUnmarked);
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
        this.#end.identify(chunk);
        return undefined;
      case 'finish':
        this.#end.finished(chunk.finishReason, chunk.usage);
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
    this.#end.identify(response);
    this.#end.finished(finishReason, usage);
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
        if (item.kind === 'anthropic.message_start') this.#end.begun(item.providerMetadata?.anthropic);
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

  isWhole(): boolean {
    return this.#end.isWhole();
  }

  goesOn(): boolean {
    const goesOn = this.#end.goesOn();
    if (goesOn) this.#open.clear();
    return goesOn;
  }

  usage(): Usage | undefined {
    return this.#end.usage();
  }

  finish(): ModelResponse {
    const parts = [...this.parts];
    return {
      content: { role: 'model', parts },
      turnComplete: true,
      ...this.#end.facts(parts, this.#cut),
      ...(this.#sources.length > 0 ? { citationMetadata: { citations: this.#sources } } : {}),
    };
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
