import type {
  ContentBlockParam,
  MessageParam,
  TextBlockParam,
  ToolResultBlockParam,
} from '@anthropic-ai/sdk/resources/messages';
import type { ContentPart, FunctionResponsePart, MediaPart } from '../../../contracts/index.ts';
import type { ModelRequest } from '../../../runtime/index.ts';
import type { Declarations } from '../../schema/index.ts';
import { toAnthropicOutput } from '../../schema/index.ts';
import type { CacheLife } from '../content/index.ts';
import {
  CallIds,
  cacheMark,
  decodeText,
  isOpaquePart,
  mediaNote,
  mediaOf,
  outcomeText,
  renamed,
  splitConfig,
  stateOf,
  textOfPart,
  turnsOf,
  withRest,
} from '../content/index.ts';
import { markCache } from './cache-marks.ts';
import { compactionEdits, messagesSinceCompaction } from './compaction.ts';

export interface AnthropicSettings {
  provider: string;
  /** Tokens; the API has no default. */
  maxTokens: number;
  cache: CacheLife;
  /** Tokens from which on the provider compacts by itself. */
  compactAt?: number | undefined;
  config?: Readonly<Record<string, unknown>> | undefined;
}

const names = {
  temperature: 'temperature',
  topP: 'top_p',
  topK: 'top_k',
  maxOutputTokens: 'max_tokens',
  stopSequences: 'stop_sequences',
} as const;

/** The body of a Messages request. */
export function messagesBody(
  request: ModelRequest,
  tools: Declarations,
  settings: AnthropicSettings,
  { stream, pauses = false }: { stream: boolean; pauses?: boolean },
): Record<string, unknown> & { messages: MessageParam[] } {
  const { common, rest } = splitConfig(settings.config, request.config);
  const messages = messagesSinceCompaction(messagesOf(request, tools, settings.provider));
  const body: Record<string, unknown> & { messages: MessageParam[] } = {
    model: request.model,
    max_tokens: settings.maxTokens,
    messages,
    ...renamed(common, names),
  };
  if (request.systemInstruction !== '') body.system = request.systemInstruction;
  if (tools.tools.length > 0) {
    body.tools = tools.tools.map(({ alias, description, schema }) => ({
      name: alias,
      description,
      input_schema: schema,
    }));
    const choice = common.toolChoice;
    if (typeof choice === 'string') body.tool_choice = { type: choice === 'required' ? 'any' : choice };
    else if (choice) body.tool_choice = { type: 'tool', name: tools.aliasOf(choice.name) };
  }
  const format = request.outputSchema && toAnthropicOutput(request.outputSchema);
  if (format) body.output_config = { format: { type: 'json_schema', schema: format } };
  if (settings.compactAt !== undefined && request.purpose === undefined) {
    body.context_management = compactionEdits(settings.compactAt);
  }
  if (stream) body.stream = true;
  withRest(body, rest);
  if (mustNotThink(body.thinking, messages)) delete body.thinking;
  const mark = cacheMark(settings.cache, { hasTools: tools.tools.length > 0, pauses });
  if (mark) markCache(body, mark);
  return body;
}

/** In the middle of a tool round, a turn that was begun without thinking (by another model, say) cannot go on with it. */
function mustNotThink(thinking: unknown, messages: readonly MessageParam[]): boolean {
  if ((thinking as { type?: unknown } | undefined)?.type !== 'enabled') return false;
  const last = messages.at(-1)?.content;
  if (!Array.isArray(last) || !last.some((block) => block.type === 'tool_result')) return false;
  const before = messages.at(-2)?.content;
  const first = Array.isArray(before) ? before.find(({ type }) => `${type}` !== 'compaction')?.type : undefined;
  return first !== 'thinking' && first !== 'redacted_thinking';
}

function messagesOf(request: ModelRequest, tools: Declarations, provider: string): MessageParam[] {
  const messages: MessageParam[] = [];
  const ids = new CallIds(request.model);
  for (const { role, parts } of turnsOf(request.contents)) {
    const content = role === 'user' ? userBlocks(parts, ids) : assistantBlocks(parts, tools, provider, ids);
    if (content.length > 0) messages.push({ role: role === 'user' ? 'user' : 'assistant', content });
  }
  return messages;
}

/** Blocks of an answer in their order, thinking included. */
export function assistantBlocks(
  parts: readonly ContentPart[],
  tools: Declarations,
  provider: string,
  ids = new CallIds(''),
): ContentBlockParam[] {
  const blocks: ContentBlockParam[] = [];
  for (const part of parts) {
    const state = stateOf(part, provider);
    if (part.type === 'thought') {
      const opaque = state?.opaque as ContentBlockParam | undefined;
      // The text is kept on the part, everything else as it came. Another provider's thoughts are not sent.
      if (opaque) blocks.push(opaque.type === 'thinking' ? { ...opaque, thinking: part.thought } : opaque);
    } else if (isOpaquePart(part)) {
      if (state) blocks.push(state.opaque as ContentBlockParam);
    } else if (part.type === 'function_call') {
      blocks.push({
        type: 'tool_use',
        id: ids.add(part.id, state?.id),
        name: tools.aliasOf(part.name),
        input: part.args,
        ...(state?.opaque as object | undefined),
      });
    } else {
      const text = textOfPart(part);
      // A block of nothing but white space is refused.
      if (text && text.trim() !== '') blocks.push({ type: 'text', text, ...(state?.opaque as object | undefined) });
    }
  }
  return blocks;
}

/** Results come first, as the API insists. */
function userBlocks(parts: readonly ContentPart[], ids: CallIds): ContentBlockParam[] {
  const results: ContentBlockParam[] = [];
  const others: ContentBlockParam[] = [];
  for (const part of parts) {
    if (part.type === 'function_response') results.push(resultBlock(part, ids));
    else if (part.type === 'media') others.push(mediaBlock(part));
    else {
      const text = textOfPart(part);
      if (text && text.trim() !== '') others.push({ type: 'text', text });
    }
  }
  return [...results, ...others];
}

function resultBlock(part: FunctionResponsePart, ids: CallIds): ToolResultBlockParam {
  const text = outcomeText(part);
  const media = mediaOf(part).map(mediaBlock);
  const said: TextBlockParam[] = text.trim() === '' ? [] : [{ type: 'text', text }];
  return {
    type: 'tool_result',
    tool_use_id: ids.of(part.id),
    content:
      media.length === 0 ? text : ([...said, ...media] as Exclude<ToolResultBlockParam['content'], string | undefined>),
    ...(part.isError ? { is_error: true } : {}),
  };
}

type Block = Extract<ContentBlockParam, { type: 'image' | 'document' | 'text' }>;

function mediaBlock(part: MediaPart): Block {
  const { mimeType, data, uri } = part;
  const url = uri !== undefined && /^https?:/.test(uri) ? uri : undefined;
  if (/^image\/(jpeg|png|gif|webp)$/.test(mimeType)) {
    if (data !== undefined) {
      const media_type = mimeType as 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp';
      return { type: 'image', source: { type: 'base64', media_type, data } };
    }
    if (url !== undefined) return { type: 'image', source: { type: 'url', url } };
  }
  if (mimeType === 'application/pdf') {
    if (data !== undefined)
      return { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data } };
    if (url !== undefined) return { type: 'document', source: { type: 'url', url } };
  }
  if (data !== undefined && mimeType.startsWith('text/')) return { type: 'text', text: decodeText(data) };
  return { type: 'text', text: mediaNote(part) };
}
