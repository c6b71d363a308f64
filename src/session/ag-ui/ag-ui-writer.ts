import { isObject, keepNewest } from '../../base/index.ts';
import type { AgentEvent, AgentMessageEvent, ContentPart, StreamEndEvent } from '../../contracts/index.ts';
import { notesOf, textOfParts } from '../../contracts/index.ts';
import { GrowingChars, MOST_KNOWN, mayGrow, mayTheyAnswer, wordsOfPart } from '../ui/index.ts';
import type { AgUiEvent } from './ag-ui-event.ts';
import type { AgUiQuestion } from './interrupts.ts';
import { interruptOf } from './interrupts.ts';

export interface AgUiWriterOptions {
  threadId: string;
  runId: string;
  /** Whether whoever asks may answer a question. Default: yes. */
  mayAnswer?: (question: AgUiQuestion) => boolean;
}

type Kind = 'text' | 'reasoning';

/** A part of a message while it is streamed. */
interface Growing {
  readonly id: string;
  readonly kind: Kind;
  text: string;
}

/** An agent that is run as a tool has a thread of its own, which is the tool's to show. */
const isOfTool = (threadId: string | undefined): boolean => threadId?.startsWith('/') === true;

/** Makes events of AG-UI of the events of one run. */
export class AgUiWriter {
  readonly #options: AgUiWriterOptions;
  readonly #growing = new Map<string, Map<number, Growing>>();
  readonly #calls = new Set<string>();
  readonly #chars = new GrowingChars();
  #fault: { message: string; code: string } | undefined;

  constructor(options: AgUiWriterOptions) {
    this.#options = options;
  }

  begin(): AgUiEvent[] {
    const { threadId, runId } = this.#options;
    return [{ type: 'RUN_STARTED', threadId, runId, protocolVersion: '1.0' }];
  }

  /** Events for one of the session's, in their order. */
  write(event: AgentEvent): AgUiEvent[] {
    switch (event.type) {
      case 'message':
        return event.role === 'agent' && !isOfTool(event.threadId) ? this.#words(event) : [];
      case 'tool_request': {
        const { requestId: toolCallId, name: toolCallName, args } = event;
        if (this.#calls.has(toolCallId)) return [];
        this.#calls.add(toolCallId);
        keepNewest(this.#calls, MOST_KNOWN);
        return [
          { type: 'TOOL_CALL_START', toolCallId, toolCallName },
          { type: 'TOOL_CALL_ARGS', toolCallId, delta: JSON.stringify(args) },
          { type: 'TOOL_CALL_END', toolCallId },
        ];
      }
      case 'tool_response': {
        const { id: messageId, requestId: toolCallId, content, isError, errorType = 'failed' } = event;
        const metadata = isError ? { metadata: { coxswain: { isError, errorType } } } : {};
        return [
          { type: 'TOOL_CALL_RESULT', messageId, toolCallId, content: shownText(content), role: 'tool', ...metadata },
        ];
      }
      case 'session_update':
        return event.stateDelta ? [{ type: 'STATE_DELTA', delta: patchOf(event.stateDelta) }] : [];
      case 'custom':
        return [...argumentsRun(event.kind, event.data), ...compacted(event.kind, event.data)];
      case 'error':
        if (event.fatal) this.#fault = { message: event.message, code: event.code };
        return event.fatal
          ? []
          : [{ type: 'CUSTOM', name: 'coxswain.warning', value: { code: event.code, message: event.message } }];
      case 'stream_end':
        return this.#over(event);
      default:
        return [];
    }
  }

  /** The end of a run that has no stream, or whose stream's end is not known. */
  end(reason: string, open: readonly AgUiQuestion[] = []): AgUiEvent[] {
    const { threadId, runId, mayAnswer } = this.#options;
    const finished = { type: 'RUN_FINISHED' as const, threadId, runId };
    const before = this.#close();
    if (open.length > 0) {
      const interrupts = open.map((question) => interruptOf(question, mayTheyAnswer(mayAnswer, question)));
      return [...before, { ...finished, outcome: { type: 'interrupt', interrupts } }];
    }
    if (reason === 'aborted') return [...before, { ...finished, outcome: { type: 'cancelled' } }];
    if (reason === 'failed') {
      return [...before, { type: 'RUN_ERROR', ...(this.#fault ?? { message: 'the turn failed', code: 'E_INTERNAL' }) }];
    }
    return [...before, { ...finished, outcome: { type: 'success' }, result: { reason } }];
  }

  #over({ reason, data }: StreamEndEvent): AgUiEvent[] {
    const open = (data.pending ?? []).filter(({ kind }) => kind !== 'tool');
    return this.end(reason, reason === 'input_required' ? open : []);
  }

  #words(event: AgentMessageEvent): AgUiEvent[] {
    const { messageId = event.id, part = 0 } = notesOf(event);
    const id = String(messageId);
    const parts = this.#growing.get(id) ?? new Map<number, Growing>();
    if (!event.partial) {
      this.#growing.delete(id);
      this.#chars.giveBack(parts.values());
      return this.#whole(id, parts, event);
    }
    if (!mayGrow(this.#growing, id, Number(part))) return [];
    const words = event.content[0] && wordsOfPart(event.content[0]);
    if (!words || !this.#chars.take(words.text.length)) return [];
    this.#growing.set(id, parts);
    const known = parts.get(Number(part));
    if (known) {
      known.text += words.text;
      return [content(known, words.text)];
    }
    const made = { id: `${id}:${Number(part)}`, ...words };
    parts.set(Number(part), made);
    return [...opened(made, event), content(made, words.text)];
  }

  /** What was not streamed of a message that is whole, and in place of what was changed since. */
  #whole(id: string, parts: Map<number, Growing>, event: AgentMessageEvent): AgUiEvent[] {
    const left = [...parts.values()];
    const events: AgUiEvent[] = [];
    for (const [at, part] of event.content.entries()) {
      const words = wordsOfPart(part);
      if (!words || words.text === '') continue;
      const known = left.find(({ kind, text }) => kind === words.kind && words.text.startsWith(text));
      if (known) {
        left.splice(left.indexOf(known), 1);
        if (known.text !== words.text) events.push(content(known, words.text.slice(known.text.length)));
        events.push(...closed(known));
        continue;
      }
      const made = { id: parts.has(at) ? `${id}:${at}:whole` : `${id}:${at}`, ...words };
      events.push(...opened(made, event), content(made, words.text), ...closed(made));
    }
    return [...left.flatMap((part) => closed(part, true)), ...events];
  }

  #close(): AgUiEvent[] {
    const open = [...this.#growing.values()].flatMap((parts) => [...parts.values()].flatMap((part) => closed(part)));
    for (const parts of this.#growing.values()) this.#chars.giveBack(parts.values());
    this.#growing.clear();
    return open;
  }
}

function opened({ id: messageId, kind }: Growing, { threadId, agentId }: AgentMessageEvent): AgUiEvent[] {
  if (kind === 'reasoning') {
    return [
      { type: 'REASONING_START', messageId },
      { type: 'REASONING_MESSAGE_START', messageId, role: 'reasoning' },
    ];
  }
  // Of a branch: which agent speaks.
  const name = threadId === undefined || agentId === undefined ? {} : { name: agentId };
  return [{ type: 'TEXT_MESSAGE_START', messageId, role: 'assistant', ...name }];
}

function content({ id: messageId, kind }: Growing, delta: string): AgUiEvent {
  return { type: kind === 'text' ? 'TEXT_MESSAGE_CONTENT' : 'REASONING_MESSAGE_CONTENT', messageId, delta };
}

/** `isWithdrawn`: it was changed after it had been streamed. */
function closed({ id: messageId, kind }: Growing, isWithdrawn = false): AgUiEvent[] {
  const metadata = isWithdrawn ? { metadata: { coxswain: { withdrawn: true } } } : {};
  if (kind === 'text') return [{ type: 'TEXT_MESSAGE_END', messageId, ...metadata }];
  return [
    { type: 'REASONING_MESSAGE_END', messageId, ...metadata },
    { type: 'REASONING_END', messageId },
  ];
}

/** A result as a page shows it: text, or its parts where there is more. */
export function shownText(parts: readonly ContentPart[]): string {
  return parts.every(({ type }) => type === 'text') ? textOfParts(parts) : JSON.stringify(parts);
}

function patchOf(delta: Record<string, unknown>): { op: 'add'; path: string; value: unknown }[] {
  return Object.entries(delta).map(([key, value]) => ({
    op: 'add',
    path: `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`,
    value: value ?? null,
  }));
}

/** Older messages are sent to the model in a shorter form from here on; nothing of the conversation is gone. */
function compacted(kind: string, data: unknown): AgUiEvent[] {
  return kind === 'compacted' ? [{ type: 'CUSTOM', name: 'coxswain.compacted', value: data }] : [];
}

/** Other arguments than those that were asked for are approved to run. */
function argumentsRun(kind: string, data: unknown): AgUiEvent[] {
  if (kind !== 'policy_decision' || !isObject(data)) return [];
  const { callId, outcome, args } = data;
  if (typeof callId !== 'string' || outcome !== 'approved' || !isObject(args)) return [];
  return [{ type: 'CUSTOM', name: 'coxswain.arguments', value: { toolCallId: callId, args } }];
}
