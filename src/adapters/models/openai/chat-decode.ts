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
  extrasOf,
  grown,
  knownEnd,
  laterEnd,
  ProviderFailure,
  parseArgs,
  withState,
} from '../content/index.ts';
import type { Decoder } from '../wire/index.ts';
import type { ReasoningState } from './chat-encode.ts';

/** What compatible servers really send: anything may be missing, and some things have several names. */
export interface ChatChunk {
  error?: unknown;
  id?: string;
  model?: string;
  usage?: ChatUsage | null;
  choices?: ChatChoice[] | null;
}

/** In the words of `openai`, whose types are not imported: a program that asks another provider has not installed it. */
interface ChatUsage {
  prompt_tokens?: number;
  completion_tokens?: number;
  prompt_tokens_details?: { cached_tokens?: number; cache_write_tokens?: number };
  completion_tokens_details?: { reasoning_tokens?: number };
}

interface ChatChoice {
  index?: number;
  delta?: ChatDelta | null;
  message?: ChatDelta | null;
  finish_reason?: string | null;
  error?: unknown;
}

interface ChatDelta {
  content?: string | ContentPiece[] | null;
  reasoning_content?: string | null;
  reasoning?: string | null;
  reasoning_details?: unknown[] | null;
  refusal?: string | null;
  tool_calls?: ToolCallDelta[] | null;
  function_call?: { name?: string; arguments?: string } | null;
}

/** Content as a list: text, or what was thought, which has a list of its own. */
interface ContentPiece {
  type?: string;
  text?: string;
  thinking?: string | ContentPiece[];
}

interface ToolCallDelta {
  index?: number | null;
  id?: string | null;
  function?: { name?: string | null; arguments?: unknown } | null;
}

interface Call {
  id: string;
  index: number | undefined;
  name: string;
  args: string;
  extras: Record<string, unknown> | undefined;
}

const knownOfCall = new Set(['index', 'id', 'type', 'function']);

/** Chat Completions, streamed or whole. */
export class ChatDecoder implements Decoder<ChatChunk> {
  readonly #provider: string;
  readonly #tools: Declarations;
  readonly #counter: AnswerCounter;
  readonly #acceptsUnmarked: boolean;
  #text = '';
  #thought = '';
  #field: ReasoningState['field'];
  #details: unknown[] | undefined;
  #refusal = '';
  #calls: Call[] = [];
  /** The call now being streamed. */
  #current: Call | undefined;
  #finish: string | undefined;
  #usage: Usage | undefined;
  #model: string | undefined;
  #id: string | undefined;
  #isBegun = false;

  constructor(provider: string, tools: Declarations, counter: AnswerCounter, unmarkedEnd: 'fail' | 'accept' = 'fail') {
    this.#provider = provider;
    this.#tools = tools;
    this.#counter = counter;
    this.#acceptsUnmarked = unmarkedEnd === 'accept';
  }

  push(chunk: ChatChunk): ContentPart | ContentPart[] | undefined {
    if (chunk.usage) this.#usage = grown(this.#usage, usageOf(chunk.usage));
    if (chunk.error) throw bodyFailure(chunk.error);
    if (chunk.model) this.#model = chunk.model;
    if (chunk.id) this.#id ??= chunk.id;
    const choice = chunk.choices?.[0];
    // What has no number is the answer: its end must not go unheard.
    if (!choice || Number(choice.index ?? 0) > 0) return undefined;
    if (choice.error) throw bodyFailure(choice.error);
    this.#isBegun = true;
    if (choice.finish_reason) this.#finish = laterEnd(this.#finish, choice.finish_reason);
    const delta = choice.delta ?? choice.message;
    return delta ? this.#take(delta, delta === choice.message) : undefined;
  }

  #take(delta: ChatDelta, isWhole: boolean): ContentPart | ContentPart[] | undefined {
    let shown: ContentPart | undefined;
    const thinking = Array.isArray(delta.content) ? thinkingIn(delta.content) : '';
    const reasoning = checkedText(delta.reasoning_content || delta.reasoning || thinking);
    if (reasoning) {
      this.#field = delta.reasoning_content ? 'reasoning_content' : delta.reasoning ? 'reasoning' : 'thinking';
      this.#thought += reasoning;
      shown = { type: 'thought', thought: reasoning };
    }
    if (Array.isArray(delta.reasoning_details)) {
      this.#details ??= [];
      for (const detail of delta.reasoning_details) {
        this.#counter.more('other', charsOf(detail));
        if (isWhole) this.#details.push(detail);
        else addDetail(this.#details, detail);
      }
    }
    if (delta.refusal) {
      this.#counter.more('text', charsOf(delta.refusal));
      this.#refusal += checkedText(delta.refusal);
    }
    for (const call of delta.tool_calls ?? []) {
      if (isWhole) this.#begin(call);
      else this.#takeCall(call, (delta.tool_calls as unknown[]).length > 1);
    }
    if (delta.function_call) this.#takeCall({ function: delta.function_call }, false);
    const text = Array.isArray(delta.content) ? textIn(delta.content) : checkedText(delta.content);
    if (text === '') return shown;
    this.#text += text;
    const part: ContentPart = { type: 'text', text };
    return shown ? [shown, part] : part;
  }

  #takeCall(delta: ToolCallDelta, isOneOfSeveral: boolean): void {
    const id = checkedText(delta.id);
    const name = checkedText(delta.function?.name);
    const call = this.#callOf(id, name, delta.index ?? undefined, isOneOfSeveral);
    if (!call) {
      this.#begin(delta);
      return;
    }
    this.#current = call;
    if (call.id === '') call.id = id;
    if (call.name === '') call.name = name;
    this.#grow(call, delta);
  }

  #begin(delta: ToolCallDelta): void {
    const { id, index } = delta;
    const call: Call = {
      id: checkedText(id),
      index: index ?? undefined,
      name: checkedText(delta.function?.name),
      args: '',
      extras: undefined,
    };
    this.#counter.more('calls', 1);
    this.#calls.push(call);
    this.#current = call;
    this.#grow(call, delta);
  }

  #grow(call: Call, delta: ToolCallDelta): void {
    const args = delta.function?.arguments;
    if (typeof args === 'string') {
      this.#counter.more('args', args.length);
      call.args += args;
    } else if (typeof args === 'object' && args !== null) {
      // Some servers send the object itself.
      call.args = JSON.stringify(args);
      this.#counter.more('args', call.args.length);
    }
    const extras = extrasOf(delta, knownOfCall);
    if (extras) this.#counter.more('other', charsOf(extras));
    if (extras) call.extras = { ...call.extras, ...extras };
  }

  /** The call that a delta goes on with; undefined if it begins a new one. */
  #callOf(id: string, name: string, index: number | undefined, isOneOfSeveral: boolean): Call | undefined {
    const atIndex = index === undefined ? undefined : this.#calls.findLast((call) => call.index === index);
    if (id !== '') {
      const same = this.#calls.filter((call) => call.id === id);
      // Some servers give all calls one id: the index tells them apart.
      const here = same.findLast((call) => index === undefined || call.index === undefined || call.index === index);
      if (here) return here;
      if (same.length > 0 && name === '') return same.at(-1);
      // A fresh id on every delta, and no name: more of the call at that place.
      return atIndex && name === '' && atIndex.name !== '' ? atIndex : undefined;
    }
    if (index !== undefined) return atIndex ?? (name === '' ? this.#current : undefined);
    // More of the call being streamed, or the name that it came without.
    if (name === '' || this.#current?.name === '') return this.#current;
    // A name, but neither id nor index: a new call, unless it repeats the name of the one that is not complete yet.
    const goesOn = this.#current?.name === name && !isOneOfSeveral && !isComplete(this.#current.args);
    return goesOn ? this.#current : undefined;
  }

  usage(): Usage | undefined {
    return this.#usage;
  }

  finish({ stream, sentinel }: { stream: boolean; sentinel: boolean }): ModelResponse {
    if (this.#finish === 'error') throw new ProviderFailure('request_error', 'the provider broke off', true);
    if (this.#finish === undefined && stream && !sentinel && !this.#acceptsUnmarked) {
      throw new ProviderFailure('stream_ended', 'the stream ended before the answer did', true);
    }
    if (!this.#isBegun) throw new ProviderFailure('bad_response', 'the response holds no answer', true);
    const parts: ContentPart[] = [];
    if (this.#thought !== '' || this.#details) parts.push(this.#thoughtPart());
    if (this.#text !== '') parts.push({ type: 'text', text: this.#text });
    if (this.#refusal !== '') parts.push({ type: 'refusal', text: this.#refusal });
    let cut = false;
    for (const call of this.#calls) {
      const parsed = parseArgs(call.args);
      cut ||= parsed.cut;
      parts.push(
        callPart(this.#tools.nameOf(call.name), this.#tools.argsOf(call.name, parsed.args), {
          name: this.#provider,
          ...(call.id === '' ? {} : { id: call.id }),
          ...(call.extras ? { opaque: call.extras } : {}),
        }),
      );
    }
    return {
      content: { role: 'model', parts },
      turnComplete: true,
      finishReason: cut ? 'length' : this.#reason(),
      ...(this.#model === undefined ? {} : { model: this.#model }),
      ...(this.#id === undefined ? {} : { responseId: this.#id }),
      ...(this.#usage ? { usage: this.#usage } : {}),
    };
  }

  #thoughtPart(): ContentPart {
    const opaque: ReasoningState = {
      ...(this.#field ? { field: this.#field } : {}),
      ...(this.#details ? { details: this.#details } : {}),
    };
    return withState({ type: 'thought', thought: this.#thought }, { name: this.#provider, opaque });
  }

  #reason(): string {
    const end = this.#finish === undefined ? 'stop' : knownEnd(this.#finish);
    if (end === 'length' || end === 'safety') return end;
    if (this.#refusal !== '') return 'refusal';
    if (end === 'refusal') return end;
    return this.#calls.length > 0 ? 'tool_calls' : 'stop';
  }
}

/** What was streamed in pieces becomes what an answer in one piece has: the same detail, grown. */
function addDetail(details: unknown[], detail: unknown): void {
  const last = details.at(-1);
  if (!isPieceOf(last, detail)) {
    details.push(detail);
    return;
  }
  const grown: Record<string, unknown> = { ...last };
  for (const [key, value] of Object.entries(detail as Detail)) {
    if (value === null || value === undefined) continue;
    const before = last[key];
    const grows = key === 'text' || key === 'summary' || key === 'data';
    grown[key] = grows && typeof before === 'string' && typeof value === 'string' ? before + value : value;
  }
  details[details.length - 1] = grown;
}

type Detail = Record<string, unknown>;

function isPieceOf(last: unknown, detail: unknown): last is Detail {
  if (typeof last !== 'object' || last === null || typeof detail !== 'object' || detail === null) return false;
  const { type, index, id } = last as Detail;
  const next = detail as Detail;
  return index !== undefined && index === next.index && type === next.type && (next.id ?? id) === id;
}

function textIn(content: readonly ContentPiece[] | null | undefined): string {
  let text = '';
  for (const part of content ?? []) if (part?.type === 'text') text += checkedText(part.text);
  return text;
}

function thinkingIn(content: readonly ContentPiece[] | null | undefined): string {
  let thought = '';
  for (const piece of content ?? []) {
    if (piece?.type !== 'thinking') continue;
    thought += Array.isArray(piece.thinking) ? textIn(piece.thinking) : checkedText(piece.thinking);
  }
  return thought;
}

function isComplete(args: string): boolean {
  try {
    JSON.parse(args);
    return true;
  } catch {
    return false;
  }
}

function usageOf(usage: ChatUsage): Usage {
  const { prompt_tokens_details: read, completion_tokens_details: written } = usage;
  return countsOf({
    inputTokens: usage.prompt_tokens,
    outputTokens: usage.completion_tokens,
    cachedReadTokens: read?.cached_tokens,
    cacheWriteTokens: read?.cache_write_tokens,
    thoughtTokens: written?.reasoning_tokens,
  });
}
