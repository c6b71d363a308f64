import type { Response, ResponseStreamEvent, ResponseUsage } from 'openai/resources/responses/responses';
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
  opaquePart,
  ProviderFailure,
  parseArgs,
  withState,
} from '../content/index.ts';
import type { Decoder } from '../wire/index.ts';
import type { MessageState } from './responses-encode.ts';

/** An event of a stream, or the whole response of a call without one. */
export type ResponsesChunk = ResponseStreamEvent | Response;

type Item = Response['output'][number];
type Ended = Pick<Response, 'output' | 'status'> & Partial<Response>;

const knownOfCall = new Set(['type', 'id', 'call_id', 'name', 'arguments', 'status']);

/** The Responses API, streamed or whole. The deltas are shown; the answer is made of the finished items. */
export class ResponsesDecoder implements Decoder<ResponsesChunk> {
  readonly #provider: string;
  readonly #tools: Declarations;
  readonly #counter: AnswerCounter;
  #items: Item[] = [];
  readonly #ids = new Set<string>();
  #ended: Ended | undefined;
  #usage: Usage | undefined;

  constructor(provider: string, tools: Declarations, counter: AnswerCounter) {
    this.#provider = provider;
    this.#tools = tools;
    this.#counter = counter;
  }

  push(chunk: ResponsesChunk): ContentPart | undefined {
    if (!('type' in chunk)) {
      this.#count(chunk);
      if (chunk.error) throw bodyFailure(chunk.error);
      if (Array.isArray(chunk.output)) this.#ended = chunk;
      return undefined;
    }
    switch (chunk.type) {
      case 'response.output_text.delta':
        return shownText(checkedText(chunk.delta));
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        return shownThought(checkedText(chunk.delta));
      case 'response.reasoning_summary_part.added':
        return chunk.summary_index > 0 ? { type: 'thought', thought: '\n\n' } : undefined;
      case 'response.output_item.done':
        this.#take(chunk.item);
        return undefined;
      case 'response.completed':
        this.#end(chunk.response);
        return undefined;
      case 'response.incomplete':
        this.#end(incomplete(chunk.response));
        return undefined;
      case 'response.failed':
        this.#count(chunk.response);
        throw bodyFailure(chunk.response.error ?? { message: 'the response failed', type: 'server_error' });
      case 'error':
        throw bodyFailure({ message: chunk.message, code: chunk.code ?? 'server_error' });
      default:
        // One that begins, goes on or is cancelled has cost what it tells of, too.
        this.#count((chunk as { response?: Partial<Response> | null }).response ?? {});
        return undefined;
    }
  }

  #end(response: Ended): void {
    this.#count(response);
    if (response.error) throw bodyFailure(response.error);
    this.#ended = response;
  }

  /** An answer that fails has cost what it tells of, too. */
  #count({ usage }: Partial<Response>): void {
    if (usage) this.#usage = grown(this.#usage, usageOf(usage));
  }

  #take(item: Item): void {
    const { id } = item;
    if (id) {
      // An item that is told of twice is one.
      if (this.#ids.has(id)) return;
      this.#ids.add(id);
    }
    if (item.type === 'function_call') {
      this.#counter.more('calls', 1);
      this.#counter.more('args', charsOf(item.arguments));
    } else this.#counter.more('other', charsOf(item));
    this.#items.push(item);
  }

  usage(): Usage | undefined {
    return this.#usage;
  }

  isWhole(): boolean {
    return this.#ended !== undefined;
  }

  finish({ stream }: { stream: boolean }): ModelResponse {
    const ended = this.#ended;
    if (!ended) {
      if (!stream) throw new ProviderFailure('bad_response', 'the response holds no answer', true);
      throw new ProviderFailure('stream_ended', 'the stream ended before the answer did', true);
    }
    // Servers that only resemble the real one may leave the status out.
    const { status = 'completed' } = ended;
    if (status !== 'completed' && status !== 'incomplete') {
      throw new ProviderFailure('server_error', `the response is ${status}`, true);
    }
    const usage = this.usage();
    const items = ended.output?.length > 0 ? ended.output : this.#items;
    const parts: ContentPart[] = [];
    let cut = false;
    for (const item of items) {
      if (item.type === 'function_call') {
        const parsed = parseArgs(item.arguments);
        cut ||= parsed.cut || item.status === 'incomplete';
        const opaque = extrasOf(item, knownOfCall);
        parts.push(
          callPart(this.#tools.nameOf(item.name), this.#tools.argsOf(item.name, parsed.args), {
            name: this.#provider,
            ...(item.call_id ? { id: item.call_id } : {}),
            ...(opaque ? { opaque } : {}),
          }),
        );
      } else parts.push(...this.#partsOf(item));
    }
    // How much its summary takes is not said until the next answer.
    const compacted = items.some(({ type }) => type === 'compaction') ? { compacted: {} } : {};
    return {
      content: { role: 'model', parts },
      turnComplete: true,
      ...compacted,
      finishReason: cut ? 'length' : reasonOf(ended, parts),
      ...(ended.model === undefined ? {} : { model: ended.model }),
      ...(ended.id ? { responseId: ended.id } : {}),
      ...(usage ? { usage } : {}),
    };
  }

  #partsOf(item: Item): ContentPart[] {
    if (item.type === 'reasoning') {
      const texts = item.summary?.length > 0 ? item.summary : (item.content ?? []);
      const thought = texts.map(({ text }) => checkedText(text)).join('\n\n');
      const state = { name: this.#provider, ...(item.id ? { id: item.id } : {}) };
      // Without the encrypted content there is nothing that the provider could read again.
      const opaque = item.encrypted_content || item.content ? { opaque: item } : {};
      return thought === '' && !('opaque' in opaque)
        ? []
        : [withState({ type: 'thought', thought }, { ...state, ...opaque })];
    }
    if (item.type !== 'message') return [opaquePart(this.#provider, item)];
    const opaque: MessageState | undefined = item.phase ? { phase: item.phase } : undefined;
    const state = { name: this.#provider, ...(item.id ? { id: item.id } : {}), ...(opaque ? { opaque } : {}) };
    return item.content.flatMap((content): ContentPart[] => {
      if (content.type === 'refusal')
        return [withState({ type: 'refusal', text: checkedText(content.refusal) }, state)];
      const cited = (content.annotations ?? []).flatMap((note): ContentPart[] =>
        note.type === 'url_citation' ? [{ type: 'citation', uri: note.url, title: note.title }] : [],
      );
      const text = checkedText(content.text);
      return text === '' ? cited : [withState({ type: 'text', text }, state), ...cited];
    });
  }
}

/** The event says how the answer ended, also where the response leaves that out or calls itself complete. */
function incomplete(response: Response): Ended {
  const { status = 'completed' } = response;
  return { ...response, status: status === 'completed' ? 'incomplete' : status };
}

function shownText(text: string): ContentPart | undefined {
  return text === '' ? undefined : { type: 'text', text };
}

function shownThought(thought: string): ContentPart | undefined {
  return thought === '' ? undefined : { type: 'thought', thought };
}

function reasonOf(ended: Ended, parts: readonly ContentPart[]): string {
  const why = ended.incomplete_details?.reason;
  if (why === 'content_filter') return 'safety';
  if (ended.status === 'incomplete' || why) return why === undefined ? 'length' : knownEnd(why);
  if (parts.some((part) => part.type === 'refusal')) return 'refusal';
  return parts.some((part) => part.type === 'function_call') ? 'tool_calls' : 'stop';
}

function usageOf(usage: Partial<ResponseUsage>): Usage {
  const { input_tokens_details: read, output_tokens_details: written } = usage;
  return countsOf({
    inputTokens: usage.input_tokens,
    outputTokens: usage.output_tokens,
    cachedReadTokens: read?.cached_tokens,
    cacheWriteTokens: read?.cache_write_tokens,
    thoughtTokens: written?.reasoning_tokens,
  });
}
