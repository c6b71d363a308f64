import type {
  ContentBlock,
  Message,
  MessageDeltaUsage,
  RawMessageStreamEvent,
} from '@anthropic-ai/sdk/resources/messages';
import type { ContentPart, Usage } from '../../../contracts/index.ts';
import type { ModelResponse } from '../../../runtime/index.ts';
import type { AnswerCounter } from '../../../session/index.ts';
import { addUsage, charsOf } from '../../../session/index.ts';
import type { Declarations } from '../../schema/index.ts';
import type { TokenCounts } from '../content/index.ts';
import {
  bodyFailure,
  callPart,
  checkedText,
  countsOf,
  extrasOf,
  grown,
  knownEnd,
  laterEnd,
  opaquePart,
  ProviderFailure,
  parseArgs,
  withState,
} from '../content/index.ts';
import type { Decoder } from '../wire/index.ts';
import type { Passes } from './compaction.ts';
import { isCompaction, passesIn } from './compaction.ts';

/** An event of a stream, or the whole message of a call without one. */
export type AnthropicChunk = RawMessageStreamEvent | Message;

interface Block {
  block: ContentBlock;
  /** Text, thinking or the JSON of an input, as it grows. */
  text: string;
  signature: string;
  citations: unknown[];
}

const MAX_PAUSES = 8;
const knownOfCall = new Set(['type', 'id', 'name', 'input', 'caller']);
const knownOfThinking = new Set(['thinking']);

/** Messages, streamed or whole; a paused turn and its continuations are one answer. */
export class AnthropicDecoder implements Decoder<AnthropicChunk> {
  readonly #provider: string;
  readonly #tools: Declarations;
  readonly #counter: AnswerCounter;
  /** What earlier calls of a paused turn said. */
  #parts: ContentPart[] = [];
  #spent: TokenCounts = {};
  #pauses = 0;

  #blocks: Block[] = [];
  #byIndex = new Map<number, Block>();
  #stop: string | undefined;
  #ended = false;
  #explanation: string | undefined;
  #usage: TokenCounts = {};
  /** Of this call. */
  #passes: Passes | undefined;
  /** Absent: nothing was summed up. */
  #compacted: ModelResponse['compacted'];
  #model: string | undefined;
  #id: string | undefined;
  #cut = false;

  constructor(provider: string, tools: Declarations, counter: AnswerCounter) {
    this.#provider = provider;
    this.#tools = tools;
    this.#counter = counter;
  }

  /** Parts of the answer so far, for the call that goes on with it. */
  get parts(): readonly ContentPart[] {
    return this.#parts;
  }

  push(chunk: AnthropicChunk): ContentPart | undefined {
    switch (chunk.type) {
      case 'content_block_delta':
        return this.#delta(chunk.index, chunk.delta);
      case 'content_block_start':
        return this.#start(chunk.index, chunk.content_block);
      case 'message_start':
        this.#model = chunk.message.model;
        this.#id = chunk.message.id;
        this.#count(chunk.message.usage);
        return undefined;
      case 'message_delta':
        if (chunk.delta.stop_reason) this.#stop = laterEnd(this.#stop, chunk.delta.stop_reason);
        this.#explanation = chunk.delta.stop_details?.explanation ?? this.#explanation;
        this.#count(chunk.usage);
        return undefined;
      case 'message_stop':
        this.#ended = true;
        return undefined;
      case 'message':
        this.#whole(chunk);
        return undefined;
      default:
        if ((chunk as { type: string }).type === 'error') throw bodyFailure(chunk);
        return undefined;
    }
  }

  #whole(message: Message): void {
    this.#model = message.model;
    this.#id = message.id;
    this.#count(message.usage);
    for (const [index, block] of (message.content ?? []).entries()) this.#start(index, block);
    this.#stop = message.stop_reason ?? undefined;
    this.#explanation = message.stop_details?.explanation ?? undefined;
    this.#ended = true;
  }

  #start(index: number, block: ContentBlock): ContentPart | undefined {
    const entry: Block = { block, text: '', signature: '', citations: [] };
    this.#blocks.push(entry);
    if (block.type === 'tool_use') {
      this.#counter.more('calls', 1);
      this.#counter.more('args', charsOf(block.input));
    } else if (block.type !== 'text' && block.type !== 'thinking') this.#counter.more('other', charsOf(block));
    // An index that was used before belongs to the newer block from here on.
    this.#byIndex.set(index, entry);
    if (block.type === 'text') {
      entry.text = checkedText(block.text);
      entry.citations.push(...(block.citations ?? []));
      return entry.text === '' ? undefined : { type: 'text', text: entry.text };
    }
    if (block.type === 'thinking') {
      entry.text = checkedText(block.thinking);
      entry.signature = checkedText(block.signature);
      return entry.text === '' ? undefined : { type: 'thought', thought: entry.text };
    }
    return undefined;
  }

  #delta(
    index: number,
    delta: Extract<RawMessageStreamEvent, { type: 'content_block_delta' }>['delta'],
  ): ContentPart | undefined {
    if (this.#blocks.length === 0 && delta.type !== 'input_json_delta') this.#start(index, blockFor(delta.type));
    const entry = this.#byIndex.get(index) ?? this.#blocks.at(-1);
    if (!entry) return undefined;
    switch (delta.type) {
      case 'text_delta':
        return this.#shown(entry, 'text', checkedText(delta.text));
      case 'thinking_delta':
        return this.#shown(entry, 'thought', checkedText(delta.thinking));
      case 'input_json_delta':
        this.#counter.more('args', charsOf(delta.partial_json));
        if ('input' in entry.block) entry.text += checkedText(delta.partial_json);
        return undefined;
      case 'signature_delta':
        this.#counter.more('other', charsOf(delta.signature));
        entry.signature += checkedText(delta.signature);
        return undefined;
      case 'citations_delta':
        this.#counter.more('other', charsOf(delta.citation));
        entry.citations.push(delta.citation);
        return undefined;
      default: {
        const { type, ...told } = delta as { type: string };
        if (type !== 'compaction_delta' || `${entry.block.type}` !== 'compaction') return undefined;
        this.#counter.more('other', charsOf(told));
        // What it has comes at once, not in pieces.
        entry.block = { ...entry.block, ...told };
        return undefined;
      }
    }
  }

  #shown(entry: Block, type: 'text' | 'thought', piece: string): ContentPart | undefined {
    entry.text += piece;
    if (piece === '') return undefined;
    return type === 'text' ? { type, text: piece } : { type, thought: piece };
  }

  /** Counts are running totals: one that falls takes nothing back. */
  #count(usage: Partial<Message['usage'] | MessageDeltaUsage> | null | undefined): void {
    if (!usage) return;
    const counts = countsOf({
      inputTokens: usage.input_tokens,
      outputTokens: usage.output_tokens,
      cachedReadTokens: usage.cache_read_input_tokens,
      cacheWriteTokens: usage.cache_creation_input_tokens,
      thoughtTokens: usage.output_tokens_details?.thinking_tokens,
    });
    this.#usage = grown(this.#usage, counts);
    this.#passes = passesIn((usage as { iterations?: unknown }).iterations) ?? this.#passes;
  }

  isWhole(): boolean {
    return this.#ended;
  }

  goesOn(): boolean {
    if (this.#stop !== 'pause_turn' || this.#pauses >= MAX_PAUSES) return false;
    this.#pauses++;
    this.#settle();
    this.#blocks = [];
    this.#byIndex = new Map();
    this.#stop = undefined;
    this.#ended = false;
    return true;
  }

  /** Turns the blocks of this call into parts and adds its tokens to those of the calls before. */
  #settle(): void {
    for (const entry of this.#blocks) this.#parts.push(...this.#partsOf(entry));
    const isCompacted = this.#blocks.some(({ block }) => isCompaction(block));
    const context = this.#passes?.context;
    if (isCompacted) this.#compacted = context === undefined ? {} : { contextTokens: context };
    this.#spent = this.usage() ?? {};
    this.#usage = {};
    this.#passes = undefined;
  }

  usage(): Usage | undefined {
    let sum: Usage = this.#spent;
    // What summaries have cost is in no count of the answer.
    for (const told of [this.#usage, ...(this.#passes?.spent ?? [])]) {
      const counts = { ...told };
      // The API counts what it read from its cache, or wrote into it, apart.
      if (counts.inputTokens !== undefined) {
        counts.inputTokens += (counts.cachedReadTokens ?? 0) + (counts.cacheWriteTokens ?? 0);
      }
      sum = addUsage(sum, counts);
    }
    return Object.keys(sum).length > 0 ? sum : undefined;
  }

  finish(): ModelResponse {
    if (!this.#ended && this.#stop === undefined) {
      throw new ProviderFailure('stream_ended', 'the stream ended before the answer did', true);
    }
    this.#settle();
    const parts = this.#parts;
    if (this.#stop === 'refusal' && this.#explanation) parts.push({ type: 'refusal', text: this.#explanation });
    const citations = this.#blocks.flatMap((entry) => entry.citations);
    return {
      content: { role: 'model', parts },
      turnComplete: true,
      ...(this.#compacted ? { compacted: this.#compacted } : {}),
      finishReason: this.#cut ? 'length' : reasonOf(this.#stop, parts),
      ...(this.#model === undefined ? {} : { model: this.#model }),
      ...(this.#id ? { responseId: this.#id } : {}),
      ...(Object.keys(this.#spent).length > 0 ? { usage: this.#spent } : {}),
      ...(citations.length > 0 ? { citationMetadata: { citations } } : {}),
    };
  }

  #partsOf({ block, text, signature, citations }: Block): ContentPart[] {
    const name = this.#provider;
    switch (block.type) {
      case 'text': {
        if (text === '') return [];
        const opaque = citations.length > 0 ? { citations } : undefined;
        return [opaque ? withState({ type: 'text', text }, { name, opaque }) : { type: 'text', text }];
      }
      case 'thinking': {
        if (signature === '') return text === '' ? [] : [{ type: 'thought', thought: text }];
        const opaque = { ...extrasOf(block, knownOfThinking), type: 'thinking', signature };
        return [withState({ type: 'thought', thought: text, signature }, { name, opaque })];
      }
      case 'redacted_thinking':
        return [withState({ type: 'thought', thought: '' }, { name, opaque: block })];
      case 'tool_use': {
        // The whole input may come with the start of the block, or in pieces after an empty one.
        const parsed = text === '' ? { args: block.input ?? {}, cut: false } : parseArgs(text);
        this.#cut ||= parsed.cut;
        const args = typeof parsed.args === 'string' && parsed.args.trim() === '' ? {} : parsed.args;
        const opaque = extrasOf(block, knownOfCall);
        const state = { name, ...(block.id ? { id: block.id } : {}), ...(opaque ? { opaque } : {}) };
        return [callPart(this.#tools.nameOf(block.name), this.#tools.argsOf(block.name, args), state)];
      }
      default: {
        const hasInput = 'input' in block && text !== '';
        return [opaquePart(name, hasInput ? { ...block, input: parseArgs(text).args } : block)];
      }
    }
  }
}

/** Of a delta whose block was never begun. */
function blockFor(delta: string): ContentBlock {
  if (delta === 'thinking_delta' || delta === 'signature_delta')
    return { type: 'thinking', thinking: '', signature: '' };
  return { type: 'text', text: '', citations: null };
}

function reasonOf(stop: string | undefined, parts: readonly ContentPart[]): string {
  if (stop === 'pause_turn') {
    throw new ProviderFailure('pause_turn', `the provider paused more than ${MAX_PAUSES} times in one answer`, true);
  }
  const end = stop === undefined ? 'stop' : knownEnd(stop);
  if (end !== 'stop' && end !== 'tool_calls') return end;
  if (!parts.some((part) => part.type === 'function_call')) return 'stop';
  if (stop === undefined)
    throw new ProviderFailure('stream_ended', 'the answer has calls and does not say how it ended', true);
  return 'tool_calls';
}
