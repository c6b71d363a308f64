import { isObject, keepNewest } from '../../base/index.ts';
import type {
  AgentEvent,
  AgentMessageEvent,
  ContentPart,
  ReportedRequest,
  StreamEndEvent,
  ToolResponseEvent,
} from '../../contracts/index.ts';
import { canonicalJson, notesOf, textOfParts } from '../../contracts/index.ts';
import { approvalIdOf } from './approval-id.ts';
import { GrowingChars, MOST_KNOWN, mayGrow, ShownCalls } from './bounds.ts';
import type { UiMessageChunk } from './chunk.ts';
import { mayTheyAnswer } from './may-answer.ts';
import {
  finish,
  isWebAddress,
  shownApproval,
  shownOutput,
  shownQuestion,
  urlOfMedia,
  wordsOfPart,
} from './ui-shown.ts';

export interface UiWriterOptions {
  /** The page has the message of the turn: what comes is added to it. */
  isContinued?: boolean;
  /** Calls that the message of the page has. */
  knownCalls?: readonly string[];
  /** Whether the person who looks may answer a question. Default: yes. */
  mayAnswer?: (question: UiQuestion) => boolean;
}

/** A part of a message while it is streamed. */
interface StreamedPart {
  readonly id: string;
  readonly kind: 'text' | 'reasoning';
  text: string;
  isOpen: boolean;
}

/** A question about a call, as an event, the end of a stream, or `pending()` reports it. */
export type UiQuestion = Pick<ReportedRequest, 'requestId'> &
  Partial<Pick<ReportedRequest, 'callId' | 'name' | 'args' | 'approval' | 'expiresAt' | 'answers'>>;

/** An agent that is run as a tool has a thread of its own, which is the tool's to show; a branch is part of the answer. */
const isOfTool = (threadId: string | undefined): boolean => threadId?.startsWith('/') === true;

/** Makes chunks of the AI SDK's UI message stream of the events of one turn. */
export class UiWriter {
  readonly #options: UiWriterOptions;
  #hasBegun = false;
  #isInStep = false;
  /** The next words or calls come from another call of the model. */
  #isStepDone = false;
  readonly #messages = new Map<string, Map<number, StreamedPart>>();
  /** What the page was last given as the input of a call; undefined where it has it from before. */
  readonly #calls: ShownCalls;
  readonly #chars = new GrowingChars();
  readonly #asked = new Set<string>();
  /** Those of them that are no approvals, and open. */
  readonly #questions = new Set<string>();
  #sources = 0;

  constructor(options: UiWriterOptions = {}) {
    this.#options = options;
    this.#calls = new ShownCalls(options.knownCalls);
  }

  /** Chunks for one event, in their order; none where it has nothing for a page. */
  write(event: AgentEvent): UiMessageChunk[] {
    if (event.type === 'initialize') return [];
    return [...this.#begin(event.turnId ?? event.streamId), ...this.#chunks(event)];
  }

  /** A question that is open, though no event of this stream has asked it. */
  ask(question: UiQuestion): UiMessageChunk[] {
    return this.#question(question);
  }

  /** What is sent where nothing runs: the page has the rest. */
  rest(reason: string, open: readonly UiQuestion[] = []): UiMessageChunk[] {
    const questions = open.flatMap((question) => this.#question(question));
    return [...this.#begin(undefined), ...questions, ...this.#end(), finish(reason)];
  }

  #begin(messageId: string | undefined): UiMessageChunk[] {
    if (this.#hasBegun) return [];
    this.#hasBegun = true;
    return [{ type: 'start', ...(this.#options.isContinued || messageId === undefined ? {} : { messageId }) }];
  }

  #chunks(event: AgentEvent): UiMessageChunk[] {
    switch (event.type) {
      case 'message':
        return event.role === 'agent' ? this.#words(event) : this.#said(event);
      case 'tool_request': {
        const { requestId, name, args } = event;
        return [...this.#step(), ...this.#call(requestId, name, args)];
      }
      case 'tool_update': {
        const { requestId, content, progress, total } = event;
        if (!this.#calls.has(requestId)) return [];
        if (content)
          return [
            { type: 'tool-output-available', toolCallId: requestId, output: shownOutput(content), preliminary: true },
          ];
        if (progress === undefined) return [];
        return [
          {
            type: 'data-progress',
            data: { toolCallId: requestId, progress, ...(total === undefined ? {} : { total }) },
            transient: true,
          },
        ];
      }
      case 'tool_response':
        this.#isStepDone = true;
        return this.#result(event);
      case 'elicitation_request':
        // Of what the page has shown before, the end of the stream says how it stands.
        if (event.callId !== undefined && this.#options.knownCalls?.includes(event.callId)) return [];
        return this.#question(event, event);
      case 'elicitation_response':
        return this.#questions.delete(event.requestId)
          ? [{ type: 'data-question', id: event.requestId, data: { requestId: event.requestId, answer: event.action } }]
          : [];
      case 'session_update':
        return event.stateDelta ? [{ type: 'data-state', data: event.stateDelta, transient: true }] : [];
      case 'error': {
        const errorText = `${event.code}: ${event.message}`;
        return event.fatal ? [{ type: 'error', errorText }] : [{ type: 'data-warning', data: { text: errorText } }];
      }
      case 'custom':
        return this.#decided(event.kind, event.data);
      case 'stream_end':
        return this.#over(event);
      default:
        return [];
    }
  }

  /** The first words of a person began the turn; later ones were added to it. */
  #said(event: AgentMessageEvent): UiMessageChunk[] {
    if (event.role !== 'user' || notesOf(event).steer === undefined) return [];
    return [{ type: 'data-steer', id: event.id, data: { text: textOfParts(event.content) } }];
  }

  #words(event: AgentMessageEvent): UiMessageChunk[] {
    if (isOfTool(event.threadId)) return [];
    const { messageId = event.id, part = 0 } = notesOf(event);
    if (event.partial && !mayGrow(this.#messages, String(messageId), Number(part))) return [];
    const streamed = this.#streamed(String(messageId));
    if (event.partial) return this.#delta(streamed, String(messageId), Number(part), event.content[0], event);
    this.#messages.delete(String(messageId));
    this.#chars.giveBack(streamed.values());
    return this.#whole(streamed, event);
  }

  #streamed(messageId: string): Map<number, StreamedPart> {
    const known = this.#messages.get(messageId) ?? new Map<number, StreamedPart>();
    this.#messages.set(messageId, known);
    return known;
  }

  #delta(
    streamed: Map<number, StreamedPart>,
    messageId: string,
    at: number,
    part: ContentPart | undefined,
    event: AgentMessageEvent,
  ): UiMessageChunk[] {
    const words = part && wordsOfPart(part);
    if (!words) return [];
    const { kind, text } = words;
    if (!this.#chars.take(text.length)) return [];
    const known = streamed.get(at);
    if (known?.isOpen) {
      known.text += text;
      return [{ type: `${kind}-delta`, id: known.id, delta: text }];
    }
    const now: StreamedPart = { id: `${messageId}:${at}`, kind, text, isOpen: true };
    streamed.set(at, now);
    return [
      ...this.#step(),
      { type: `${kind}-start`, id: now.id, ...toldOf(event) },
      { type: `${kind}-delta`, id: now.id, delta: text },
    ];
  }

  /** The whole message: what was not streamed of it, and in place of what was changed since. */
  #whole(streamed: Map<number, StreamedPart>, event: AgentMessageEvent): UiMessageChunk[] {
    const parts = [...streamed.values()];
    const chunks: UiMessageChunk[] = [];
    const { messageId = event.id } = notesOf(event);
    for (const [at, part] of event.content.entries()) {
      const words = wordsOfPart(part);
      if (!words) {
        chunks.push(...this.#thing(part, event));
        continue;
      }
      const { kind, text } = words;
      const known = parts.find((other) => other.kind === kind && text.startsWith(other.text));
      if (known) {
        parts.splice(parts.indexOf(known), 1);
        if (known.text !== text)
          chunks.push({ type: `${kind}-delta`, id: known.id, delta: text.slice(known.text.length) });
        chunks.push(...ended(known));
        continue;
      }
      const id = `${String(messageId)}:${at}:whole`;
      chunks.push(
        ...this.#step(),
        { type: `${kind}-start`, id, ...toldOf(event) },
        { type: `${kind}-delta`, id, delta: text },
        { type: `${kind}-end`, id },
      );
    }
    return [...parts.flatMap((part) => ended(part, true)), ...chunks];
  }

  /** A part that has no words. */
  #thing(part: ContentPart, event: AgentMessageEvent): UiMessageChunk[] {
    switch (part.type) {
      case 'media': {
        const url = urlOfMedia(part);
        const { mimeType: mediaType } = part;
        // A page is told that there is something that it cannot open.
        return [
          ...this.#step(),
          url === undefined ? { type: 'data-media', data: { mediaType } } : { type: 'file', url, mediaType },
        ];
      }
      case 'citation': {
        if (part.uri === undefined || !isWebAddress(part.uri)) return [];
        const sourceId = `${event.id}:${this.#sources++}`;
        return [
          ...this.#step(),
          { type: 'source-url', sourceId, url: part.uri, ...(part.title === undefined ? {} : { title: part.title }) },
        ];
      }
      case 'code':
        return [...this.#step(), { type: 'data-code', data: { language: part.language, code: part.code } }];
      case 'code_result':
        return [...this.#step(), { type: 'data-code-result', data: { output: part.output } }];
      case 'reference':
        return [
          ...this.#step(),
          { type: 'data-reference', data: { text: part.text, ...(part.uri === undefined ? {} : { uri: part.uri }) } },
        ];
      default:
        // Calls and their results have events of their own.
        return [];
    }
  }

  #call(toolCallId: string, toolName: string, input: unknown): UiMessageChunk[] {
    this.#calls.set(toolCallId, toolName, canonicalJson(input ?? null));
    return [{ type: 'tool-input-available', toolCallId, toolName, input }];
  }

  #result({ requestId, name, content, structuredContent, isError, errorType }: ToolResponseEvent): UiMessageChunk[] {
    // Of a call of another turn: the message of this one does not have it.
    const before = this.#calls.has(requestId) ? [] : [...this.#step(), ...this.#call(requestId, name, {})];
    if (!isError) {
      const output = structuredContent ?? shownOutput(content);
      return [...before, { type: 'tool-output-available', toolCallId: requestId, output }];
    }
    if (errorType === 'denied') return [...before, { type: 'tool-output-denied', toolCallId: requestId }];
    return [...before, { type: 'tool-output-error', toolCallId: requestId, errorText: textOfParts(content) }];
  }

  #question(question: UiQuestion, whole: object = question): UiMessageChunk[] {
    const { requestId, callId, approval, expiresAt } = question;
    if (this.#asked.has(requestId)) return [];
    this.#asked.add(requestId);
    keepNewest(this.#asked, MOST_KNOWN);
    if (!approval || callId === undefined || !this.#calls.has(callId)) {
      this.#questions.add(requestId);
      keepNewest(this.#questions, MOST_KNOWN);
      return [...this.#step(), { type: 'data-question', id: requestId, data: shownQuestion(whole) }];
    }
    const descriptor = shownApproval(approval, expiresAt);
    const changed = this.#changed(callId, question);
    // Whoever looks can only wait for it.
    if (!mayTheyAnswer(this.#options.mayAnswer, question)) {
      const { name, args } = question;
      // A page that has answered would send its answer again, for as long as the call stands as answered.
      const again = this.#options.isContinued && name !== undefined ? this.#call(callId, name, args ?? {}) : changed;
      return [...again, { type: 'data-waiting', id: requestId, data: { toolCallId: callId, ...descriptor } }];
    }
    const approvalId = approvalIdOf(requestId, approval.previewDigest);
    const request = {
      type: 'tool-approval-request',
      approvalId,
      toolCallId: callId,
      approvalDescriptor: descriptor,
    } as const;
    return [...changed, request];
  }

  /** A yes is to what the question is about: not to what the model asked for, where a person or a hook has changed it. */
  #changed(callId: string, { name, args }: UiQuestion): UiMessageChunk[] {
    const known = this.#calls.get(callId);
    const tool = name ?? known?.name;
    if (!args || tool === undefined || (known && canonicalJson(args) === known.input)) return [];
    return this.#call(callId, tool, args);
  }

  /** Other arguments than those that were asked for are approved to run; or what the model is sent was made shorter. */
  #decided(kind: string, data: unknown): UiMessageChunk[] {
    if (kind === 'compacted') return [{ type: 'data-compacted', data, transient: true }];
    if (kind !== 'policy_decision' || !isObject(data)) return [];
    const { callId, outcome, args } = data;
    if (typeof callId !== 'string' || outcome !== 'approved' || !isObject(args) || !this.#calls.has(callId)) return [];
    return [{ type: 'data-arguments', id: callId, data: { toolCallId: callId, input: args } }];
  }

  #over({ reason, data }: StreamEndEvent): UiMessageChunk[] {
    const questions = (data.pending ?? [])
      .filter(({ kind }) => kind !== 'tool')
      .flatMap((open) => this.#question(open));
    if (reason === 'aborted')
      return [
        ...questions,
        ...this.#end(),
        { type: 'abort', ...(data.reason === undefined ? {} : { reason: data.reason }) },
      ];
    return [...questions, ...this.#end(), finish(reason, data)];
  }

  /** Ends what is open: text that no whole message has followed, and the step. */
  #end(): UiMessageChunk[] {
    const open = [...this.#messages.values()].flatMap((parts) => [...parts.values()].flatMap((part) => ended(part)));
    for (const parts of this.#messages.values()) this.#chars.giveBack(parts.values());
    this.#messages.clear();
    if (!this.#isInStep) return open;
    this.#isInStep = false;
    return [...open, { type: 'finish-step' }];
  }

  /** What comes belongs to a call of the model: of the one before, or of a new one. */
  #step(): UiMessageChunk[] {
    if (this.#isInStep && !this.#isStepDone) return [];
    const before: UiMessageChunk[] = this.#isInStep ? [{ type: 'finish-step' }] : [];
    this.#isInStep = true;
    this.#isStepDone = false;
    return [...before, { type: 'start-step' }];
  }
}

function ended(part: StreamedPart, isWithdrawn = false): UiMessageChunk[] {
  if (!part.isOpen) return [];
  part.isOpen = false;
  return [
    {
      type: `${part.kind}-end`,
      id: part.id,
      ...(isWithdrawn ? { providerMetadata: { coxswain: { withdrawn: true } } } : {}),
    },
  ];
}

/** Of a branch: which one, and which agent speaks. */
function toldOf({ threadId, agentId }: AgentMessageEvent): { providerMetadata?: { coxswain: Record<string, string> } } {
  if (threadId === undefined) return {};
  return { providerMetadata: { coxswain: { threadId, ...(agentId === undefined ? {} : { agentId }) } } };
}
