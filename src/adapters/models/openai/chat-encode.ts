import type {
  ChatCompletionContentPart,
  ChatCompletionMessageFunctionToolCall,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions';
import type { ContentPart, MediaPart } from '../../../contracts/index.ts';
import type { ModelRequest } from '../../../runtime/index.ts';
import type { Declarations } from '../../schema/index.ts';
import { toStrictSchema } from '../../schema/index.ts';
import type { ToolChoice } from '../content/index.ts';
import {
  CallIds,
  decodeText,
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
import { audioFormat, dataUrl, fileName } from './media.ts';

export interface ChatSettings {
  provider: string;
  /** The API of OpenAI itself, which has renamed some settings. */
  official: boolean;
  /** Reasoning goes back with the assistant's messages; `auto`: to those who sent some, or are known to want it. */
  replayReasoning: 'auto' | 'always' | 'never';
  streamUsage: boolean;
  config?: Readonly<Record<string, unknown>> | undefined;
}

/** `thinking`: among the pieces of the content. */
type ReasoningField = 'reasoning_content' | 'reasoning' | 'thinking';

/** What a thought part remembers of where its text stood. */
export interface ReasoningState {
  field?: ReasoningField;
  details?: unknown[];
}

const names = {
  temperature: 'temperature',
  topP: 'top_p',
  stopSequences: 'stop',
  seed: 'seed',
  presencePenalty: 'presence_penalty',
  frequencyPenalty: 'frequency_penalty',
} as const;

/** The body of a Chat Completions request. */
export function chatBody(
  request: ModelRequest,
  tools: Declarations,
  settings: ChatSettings,
  stream: boolean,
): Record<string, unknown> {
  const { common, rest } = splitConfig(settings.config, request.config);
  const body: Record<string, unknown> = {
    model: request.model,
    messages: chatMessages(request, tools, settings),
    ...renamed(common, { ...names, maxOutputTokens: settings.official ? 'max_completion_tokens' : 'max_tokens' }),
  };
  if (tools.tools.length > 0) {
    body.tools = tools.tools.map(({ alias, description, schema, strict }) => ({
      type: 'function',
      function: { name: alias, description, parameters: schema, ...(strict ? { strict } : {}) },
    }));
    if (common.toolChoice !== undefined) body.tool_choice = chatToolChoice(common.toolChoice, tools);
  }
  if (request.outputSchema) body.response_format = { type: 'json_schema', json_schema: outputFormat(request) };
  if (stream) {
    body.stream = true;
    if (settings.streamUsage) body.stream_options = { include_usage: true };
  }
  return withRest(body, rest);
}

export function outputFormat({ outputSchema }: ModelRequest): { name: string; schema: unknown; strict: boolean } {
  // The answer is text that is checked as it is: nothing that strictness changed could be taken back.
  const strict = outputSchema && toStrictSchema(outputSchema, { optionals: 'refuse' });
  return { name: 'answer', schema: strict ?? outputSchema, strict: strict !== undefined };
}

function chatToolChoice(choice: ToolChoice, tools: Declarations): unknown {
  if (typeof choice === 'string') return choice;
  return { type: 'function', function: { name: tools.aliasOf(choice.name) } };
}

function chatMessages(
  request: ModelRequest,
  tools: Declarations,
  settings: ChatSettings,
): ChatCompletionMessageParam[] {
  const messages: ChatCompletionMessageParam[] = [];
  if (request.systemInstruction !== '') messages.push({ role: 'system', content: request.systemInstruction });
  const turns = turnsOf(request.contents);
  const { provider, replayReasoning } = settings;
  const isWanted = replayReasoning === 'always' || /deepseek/i.test(`${provider} ${request.model}`);
  let field: ReasoningField | undefined = isWanted ? 'reasoning_content' : undefined;
  let told: ReasoningField | undefined;
  const ids = new CallIds(request.model);
  for (const { role, parts } of turns) {
    if (role === 'user') {
      messages.push(...userMessages(parts, ids));
      continue;
    }
    // From the first message on that has some: those before it were sent without, and stay in the provider's cache as they are.
    told ??= reasoningField(parts, provider);
    field = told ?? field;
    messages.push(...assistantMessage(parts, tools, provider, ids, replayReasoning === 'never' ? undefined : field));
  }
  return messages;
}

/** Under which key the provider has sent the reasoning of a message of the assistant, and expects it with every later one. */
function reasoningField(parts: readonly ContentPart[], provider: string): ReasoningField | undefined {
  for (const part of parts) {
    const state = part.type === 'thought' ? (stateOf(part, provider)?.opaque as ReasoningState | undefined) : undefined;
    if (state?.field) return state.field;
  }
  return undefined;
}

function assistantMessage(
  parts: readonly ContentPart[],
  tools: Declarations,
  provider: string,
  ids: CallIds,
  field: ReasoningField | undefined,
): ChatCompletionMessageParam[] {
  let text = '';
  let refusal = '';
  let reasoning = '';
  let details: unknown[] | undefined;
  const calls: ChatCompletionMessageFunctionToolCall[] = [];
  for (const part of parts) {
    const state = stateOf(part, provider);
    if (part.type === 'function_call') {
      calls.push({
        id: ids.add(part.id, state?.id),
        type: 'function',
        function: { name: tools.aliasOf(part.name), arguments: JSON.stringify(part.args) },
        ...(state?.opaque as object | undefined),
      });
    } else if (part.type === 'thought') {
      if (!state) continue;
      reasoning += part.thought;
      const own = state.opaque as ReasoningState | undefined;
      if (own?.details) details = [...(details ?? []), ...own.details];
    } else if (part.type === 'refusal') refusal += part.text;
    else text += textOfPart(part) ?? '';
  }
  if (text === '' && refusal === '' && calls.length === 0) return [];
  const message: ChatCompletionMessageParam = { role: 'assistant', content: text === '' ? null : text };
  if (refusal !== '') message.refusal = refusal;
  if (calls.length > 0) message.tool_calls = calls;
  const extra: Record<string, unknown> = {};
  if (field === 'thinking') {
    if (reasoning === '') return [message];
    const thinking = { type: 'thinking', thinking: [{ type: 'text', text: reasoning }] };
    extra.content = text === '' ? [thinking] : [thinking, { type: 'text', text }];
  }
  // Whoever thinks wants the key even where nothing was thought.
  else if (field !== undefined && (reasoning !== '' || field === 'reasoning_content')) extra[field] = reasoning;
  if (details) extra.reasoning_details = details;
  return [Object.assign(message, extra)];
}

function userMessages(parts: readonly ContentPart[], ids: CallIds): ChatCompletionMessageParam[] {
  const messages: ChatCompletionMessageParam[] = [];
  const content: ChatCompletionContentPart[] = [];
  for (const part of parts) {
    if (part.type === 'function_response') {
      messages.push({ role: 'tool', tool_call_id: ids.of(part.id), content: outcomeText(part) });
      const media = mediaOf(part);
      if (media.length === 0) continue;
      // A tool's message holds text only.
      content.push({ type: 'text', text: `Attached to the result of ${part.name}:` });
      for (const item of media) if (item.type === 'media') content.push(mediaPart(item));
    } else if (part.type === 'media') content.push(mediaPart(part));
    else {
      const text = textOfPart(part);
      if (text) content.push({ type: 'text', text });
    }
  }
  if (content.length === 0) return messages;
  const [first] = content;
  const isPlain = content.length === 1 && first?.type === 'text';
  messages.push({ role: 'user', content: isPlain ? first.text : content });
  return messages;
}

function mediaPart(part: MediaPart): ChatCompletionContentPart {
  const url = dataUrl(part);
  const format = audioFormat(part.mimeType);
  if (url !== undefined && part.mimeType.startsWith('image/')) return { type: 'image_url', image_url: { url } };
  if (part.data !== undefined && format) return { type: 'input_audio', input_audio: { data: part.data, format } };
  if (part.data !== undefined && part.mimeType.startsWith('text/'))
    return { type: 'text', text: decodeText(part.data) };
  if (part.data !== undefined && part.mimeType === 'application/pdf') {
    return { type: 'file', file: { filename: fileName(part.mimeType), file_data: url as string } };
  }
  return { type: 'text', text: mediaNote(part) };
}
