import type { AgentContext, ContentBlock, SessionUpdate, ToolCall, ToolCallContent } from '@agentclientprotocol/sdk';
import type { AgentEvent, ContentPart, DisplayContent, ToolKind } from '../../../contracts/index.ts';
import { notesOf } from '../../../contracts/index.ts';

type Named<T extends AgentEvent['type']> = Extract<AgentEvent, { type: T }>;

type CompactionEvent = Extract<AgentEvent, { type: 'custom'; kind: 'compacted' }>;

const isCompaction = (event: AgentEvent): event is CompactionEvent =>
  event.type === 'custom' && event.kind === 'compacted';

export interface Costs {
  /** Tokens that the model's context holds, where it is known. */
  contextTokens?: number;
  /** USD of the session so far. */
  spent: { usd: number };
}

/** What the editor has and is shown of a session. */
export interface ShowingOptions extends Costs {
  /** Whether the editor knows updates of compactions. */
  compactions: boolean;
}

/** Shows a session's events to an editor. */
export class Showing {
  readonly #client: AgentContext;
  readonly #sessionId: string;
  /** Messages of which pieces were shown. */
  readonly #pieces = new Set<unknown>();
  /** Of calls that were shown. */
  readonly #kinds = new Map<string, ToolKind>();
  readonly #options: ShowingOptions;

  constructor(client: AgentContext, sessionId: string, options: ShowingOptions) {
    this.#client = client;
    this.#sessionId = sessionId;
    this.#options = options;
  }

  /** What kind of call the editor was shown it to be. */
  kindOf(callId: string): ToolKind | undefined {
    return this.#kinds.get(callId);
  }

  /** What happens now: the editor knows its own words. */
  async show(event: AgentEvent): Promise<void> {
    if (event.type === 'message' && event.role === 'user') return;
    if (event.type === 'usage') await this.#usage(event);
    await this.replay(event);
    // Of the agent that the editor talks to; others have contexts of their own.
    if (isCompaction(event) && event.data.path === '') await this.#fill(event.data.tokensAfter);
  }

  /** What has happened, the user's words too. */
  async replay(event: AgentEvent): Promise<void> {
    switch (event.type) {
      case 'message':
        await this.#message(event);
        break;
      case 'tool_request':
        this.#kinds.set(event.requestId, kindOf(event));
        await this.#update({ ...toolCallOf({ ...event, kind: kindOf(event) }), sessionUpdate: 'tool_call' });
        break;
      case 'tool_update':
        await this.#toolUpdate(event);
        break;
      case 'tool_response':
        await this.#update({
          sessionUpdate: 'tool_call_update',
          toolCallId: event.requestId,
          status: event.isError ? 'failed' : 'completed',
          content: [...(event.display ?? []).flatMap(displayOf), ...event.content.flatMap(contentOf)],
          ...(event.structuredContent === undefined ? {} : { rawOutput: event.structuredContent }),
        });
        break;
      case 'session_update':
        if (event.title !== undefined) {
          await this.#update({ sessionUpdate: 'session_info_update', title: event.title });
        }
        break;
      case 'custom':
        if (isCompaction(event)) await this.#compaction(event);
        break;
      default:
    }
  }

  async say(text: string): Promise<void> {
    await this.#update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });
  }

  async #message(event: Named<'message'>): Promise<void> {
    const { messageId, replaces } = notesOf(event);
    if (event.partial) this.#pieces.add(messageId);
    else if (this.#pieces.has(messageId) || this.#pieces.has(replaces)) return;
    const id = typeof messageId === 'string' ? { messageId } : {};
    for (const part of event.content) {
      if (part.type === 'thought') {
        const content: ContentBlock = { type: 'text', text: part.thought };
        await this.#update({ sessionUpdate: 'agent_thought_chunk', content, ...id });
        continue;
      }
      const content = blockOf(part);
      const sessionUpdate = event.role === 'user' ? 'user_message_chunk' : 'agent_message_chunk';
      if (content) await this.#update({ sessionUpdate, content, ...id });
    }
  }

  async #usage({ inputTokens = 0, outputTokens = 0, cost }: Named<'usage'>): Promise<void> {
    const { spent } = this.#options;
    spent.usd += cost?.usd ?? 0;
    await this.#fill(inputTokens + outputTokens);
  }

  /** How full the model's context is, where its size is known. */
  async #fill(used: number): Promise<void> {
    const { contextTokens: size, spent } = this.#options;
    if (size === undefined) return;
    await this.#update({
      sessionUpdate: 'usage_update',
      used,
      size,
      ...(spent.usd === 0 ? {} : { cost: { amount: spent.usd, currency: 'USD' } }),
    });
  }

  /** It is over when its event is stored; an editor that does not say that it knows such updates gets none. */
  async #compaction({ id, data: { summary, by, tokensBefore, tokensAfter } }: CompactionEvent): Promise<void> {
    if (!this.#options.compactions) return;
    await this.#update({
      sessionUpdate: 'compaction_update',
      compactionId: id,
      status: 'completed',
      ...(summary === undefined ? {} : { summary: [{ type: 'text', text: summary }] }),
      _meta: { coxswain: { by, tokensBefore, tokensAfter } },
    });
  }

  async #toolUpdate(event: Named<'tool_update'>): Promise<void> {
    const content = event.content?.flatMap(contentOf) ?? [];
    if (event.status !== 'started' && content.length === 0) return;
    await this.#update({
      sessionUpdate: 'tool_call_update',
      toolCallId: event.requestId,
      ...(event.status === 'started' ? { status: 'in_progress' } : {}),
      ...(content.length === 0 ? {} : { content }),
    });
  }

  async #update(update: SessionUpdate): Promise<void> {
    await this.#client.notify('session/update', { sessionId: this.#sessionId, update });
  }
}

/** A tool that only reads is shown as one, so that an editor that lets reads happen knows it. */
function kindOf({ kind, annotations }: Named<'tool_request'>): ToolKind {
  if (kind !== undefined && kind !== 'other') return kind;
  return annotations?.readOnly === true && annotations.destructive !== true ? 'read' : 'other';
}

export function toolCallOf(event: {
  requestId: string;
  name: string;
  args: Record<string, unknown>;
  kind?: ToolKind | undefined;
  display?: DisplayContent[] | undefined;
}): ToolCall {
  return {
    toolCallId: event.requestId,
    title: event.name,
    name: event.name,
    kind: event.kind ?? 'other',
    status: 'pending' as const,
    rawInput: event.args,
    ...(event.display?.length ? { content: event.display.flatMap(displayOf) } : {}),
  } as ToolCall;
}

export function displayOf(display: DisplayContent): ToolCallContent[] {
  switch (display.type) {
    case 'diff': {
      const { path, oldText, newText } = display as Extract<DisplayContent, { type: 'diff' }>;
      return [{ type: 'diff', path, newText, ...(oldText === undefined ? {} : { oldText }) }];
    }
    case 'text':
    case 'terminal':
      return [{ type: 'content', content: { type: 'text', text: String((display as { text?: unknown }).text) } }];
    case 'table':
      return [{ type: 'content', content: { type: 'text', text: JSON.stringify(display) } }];
    default:
      return [];
  }
}

function contentOf(part: ContentPart): ToolCallContent[] {
  const content = blockOf(part);
  return content ? [{ type: 'content', content }] : [];
}

function blockOf(part: ContentPart): ContentBlock | undefined {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return { type: 'text', text: String(part.text) };
    case 'media': {
      const { mimeType, data, uri } = part as Extract<ContentPart, { type: 'media' }>;
      if (data === undefined)
        return uri === undefined ? undefined : { type: 'resource_link', name: uri, uri, mimeType };
      if (mimeType.startsWith('image/')) return { type: 'image', mimeType, data };
      if (mimeType.startsWith('audio/')) return { type: 'audio', mimeType, data };
      return { type: 'text', text: `[${mimeType}]` };
    }
    case 'reference': {
      const { text, uri } = part as Extract<ContentPart, { type: 'reference' }>;
      return uri === undefined ? { type: 'text', text } : { type: 'resource_link', name: text, uri };
    }
    case 'code': {
      const { language, code } = part as Extract<ContentPart, { type: 'code' }>;
      return { type: 'text', text: `\`\`\`${language}\n${code}\n\`\`\`` };
    }
    case 'code_result':
      return { type: 'text', text: String((part as Extract<ContentPart, { type: 'code_result' }>).output) };
    default:
      return undefined;
  }
}
