import type {
  AgentErrorEvent,
  AgentEvent,
  StreamEndEvent,
  ToolResponseEvent,
  ToolUpdateEvent,
  Usage,
} from '../../../contracts/index.ts';
import { CoxswainError, textOfParts } from '../../../contracts/index.ts';
import { addUsage, runErrorOf } from '../../../session/index.ts';
import type { UiMessageChunk } from '../../../session/ui/index.ts';
import { UiWriter } from '../../../session/ui/index.ts';
import type { ModelEnd, ModelPart } from './agent-types.ts';

/** A call whose result has not come: an answer that brings it says first what was called. */
export interface BegunCall {
  name: string;
  args: unknown;
}

type Json = NonNullable<Extract<ModelPart, { type: 'tool-result' }>['result']>;
type Members = NonNullable<Extract<ModelPart, { type: 'custom' }>['providerMetadata']>['coxswain'];

/** Makes parts of a language model's answer of the events of one stream of a session. */
export class PartsOfAgent {
  readonly open: Map<string, BegunCall>;
  /** Where the log has been read to. */
  cursor: string | undefined;
  turnId: string | undefined;
  readonly #writer = new UiWriter();
  /** Names of the calls that this answer has. */
  readonly #calls = new Map<string, string>();
  /** The turn began before this answer: what its end counts is not of this answer alone. */
  readonly #isContinued: boolean;
  #usage: Usage = {};
  #fatal: AgentErrorEvent | undefined;

  constructor(open: ReadonlyMap<string, BegunCall>, isContinued: boolean) {
    this.open = new Map(open);
    this.#isContinued = isContinued;
  }

  write(event: AgentEvent): ModelPart[] {
    this.cursor = event.cursor ?? this.cursor;
    this.turnId = event.turnId ?? this.turnId;
    switch (event.type) {
      case 'usage':
        this.#usage = addUsage(this.#usage, event);
        return [];
      case 'error':
        if (event.fatal) this.#fatal = event;
        return [];
      case 'tool_request':
        this.open.set(event.requestId, { name: event.name, args: event.args });
        return this.#shown(event);
      case 'tool_update':
        return event.content ? [...this.#introduced(event.requestId, event), ...this.#update(event)] : [];
      case 'tool_response':
        return [...this.#introduced(event.requestId, event), ...this.#result(event)];
      case 'elicitation_request':
        return [...this.#introduced(event.callId, event), ...this.#shown(event)];
      case 'stream_end':
        return this.#end(event);
      default:
        return this.#shown(event);
    }
  }

  #shown(event: AgentEvent): ModelPart[] {
    return this.#writer.write(event).flatMap((chunk) => this.#partsOf(chunk));
  }

  /** A call that an earlier answer began: a result, or a question, stands behind its call. */
  #introduced(callId: string | undefined, event: AgentEvent, known?: BegunCall): ModelPart[] {
    const call = callId === undefined || this.#calls.has(callId) ? undefined : (known ?? this.open.get(callId));
    if (callId === undefined || (!call && !(event.type === 'tool_response' && !this.#calls.has(callId)))) return [];
    const { name, args } = call ?? { name: (event as ToolResponseEvent).name, args: {} };
    const { id, timestamp, sessionId, streamId } = event;
    const request = { id, timestamp, sessionId, streamId, type: 'tool_request', requestId: callId, name, args };
    return this.#shown(request as AgentEvent);
  }

  #partsOf(chunk: UiMessageChunk): ModelPart[] {
    switch (chunk.type) {
      case 'text-start':
      case 'reasoning-start':
      case 'text-end':
      case 'reasoning-end':
      case 'text-delta':
      case 'reasoning-delta':
        return [chunk];
      case 'tool-input-available': {
        const { toolCallId, toolName, input } = chunk;
        // Once: what was changed since stands with the question.
        if (this.#calls.has(toolCallId)) return [];
        this.#calls.set(toolCallId, toolName);
        const written = JSON.stringify(input ?? {});
        return [{ type: 'tool-call', toolCallId, toolName, input: written, providerExecuted: true, dynamic: true }];
      }
      case 'tool-approval-request': {
        const { approvalId, toolCallId, approvalDescriptor } = chunk;
        const about = { coxswain: { ...approvalDescriptor } as unknown as Members };
        return [{ type: 'tool-approval-request', approvalId, toolCallId, providerMetadata: about }];
      }
      case 'source-url': {
        const { sourceId: id, url, title } = chunk;
        return [{ type: 'source', sourceType: 'url', id, url, ...(title === undefined ? {} : { title }) }];
      }
      case 'file': {
        const { mediaType, url } = chunk;
        const [, data] = /^data:[^,]*;base64,(.*)$/s.exec(url) ?? [];
        const file = data === undefined ? { type: 'url' as const, url: new URL(url) } : { type: 'data' as const, data };
        return [{ type: 'file', mediaType, data: file }];
      }
      case 'data-question': {
        const question = chunk.data as Members;
        // That it was answered is nothing to answer.
        if (question.answer !== undefined) return [];
        return [{ type: 'custom', kind: 'coxswain.question', providerMetadata: { coxswain: question } }];
      }
      default:
        return [];
    }
  }

  #update({ requestId, content = [] }: ToolUpdateEvent): ModelPart[] {
    const toolName = this.#calls.get(requestId);
    if (toolName === undefined) return [];
    const result = shown(content);
    return [{ type: 'tool-result', toolCallId: requestId, toolName, result, preliminary: true, dynamic: true }];
  }

  #result(event: ToolResponseEvent): ModelPart[] {
    const { requestId: toolCallId, name: toolName, content, structuredContent, isError, errorType } = event;
    this.open.delete(toolCallId);
    if (!isError) {
      const result = (structuredContent ?? shown(content)) as Json;
      return [{ type: 'tool-result', toolCallId, toolName, result, dynamic: true }];
    }
    const why = errorType === undefined ? {} : { providerMetadata: { coxswain: { errorType } } };
    const result = textOfParts(content) || (errorType ?? 'the call failed');
    return [{ type: 'tool-result', toolCallId, toolName, result, isError: true, dynamic: true, ...why }];
  }

  #end(event: StreamEndEvent): ModelPart[] {
    const { reason, data } = event;
    const asked = (data.pending ?? []).flatMap(({ callId, name, args }) =>
      callId === undefined || name === undefined ? [] : this.#introduced(callId, event, { name, args: args ?? {} }),
    );
    const parts = [...asked, ...this.#shown(event)];
    if (reason === 'failed') parts.push({ type: 'error', error: this.#failure() });
    return [...parts, { type: 'finish', ...this.#ending(event) }];
  }

  #failure(): CoxswainError {
    const message = 'the turn of the agent failed without a word of why';
    if (!this.#fatal) return new CoxswainError('FAILED_PRECONDITION', 'E_RUN_UNFINISHED', message);
    const { status, code, message: why, retryable } = runErrorOf(this.#fatal);
    return new CoxswainError(status, code, why, { retryable });
  }

  #ending({ reason, data, sessionId, turnId, cursor }: StreamEndEvent): ModelEnd {
    const unified = data.truncated ? 'length' : (ENDS[reason] ?? 'other');
    const usage = this.#isContinued ? this.#usage : (data.usage ?? this.#usage);
    const pending = (data.pending ?? []).map(({ requestId }) => requestId);
    const place: Members = {
      sessionId,
      ...(turnId === undefined ? {} : { turnId }),
      ...(cursor === undefined ? {} : { cursor }),
      ...(pending.length > 0 ? { pending } : {}),
    };
    return {
      finishReason: { unified, raw: reason },
      usage: countsOf(usage),
      providerMetadata: { coxswain: place },
    };
  }
}

const ENDS: Readonly<Record<string, ModelEnd['finishReason']['unified']>> = {
  completed: 'stop',
  failed: 'error',
  // No call that the AI SDK may run: they are the agent's.
  input_required: 'tool-calls',
  refusal: 'content-filter',
};

function shown(content: ToolResponseEvent['content']): Json {
  if (content.every(({ type }) => type === 'text')) return textOfParts(content);
  return content as unknown as Json;
}

function countsOf(usage: Usage): ModelEnd['usage'] {
  const { inputTokens, cachedReadTokens: cacheRead, cacheWriteTokens: cacheWrite, outputTokens, cost } = usage;
  const reasoning = usage.thoughtTokens;
  const less = (all: number | undefined, ...some: (number | undefined)[]) =>
    all === undefined ? undefined : some.reduce<number>((rest, part) => rest - (part ?? 0), all);
  return {
    inputTokens: { total: inputTokens, noCache: less(inputTokens, cacheRead, cacheWrite), cacheRead, cacheWrite },
    outputTokens: { total: outputTokens, text: less(outputTokens, reasoning), reasoning },
    ...(cost ? { raw: { costUsd: cost.usd } } : {}),
  };
}
