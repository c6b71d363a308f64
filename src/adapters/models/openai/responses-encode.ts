import type {
  ResponseFunctionCallOutputItem,
  ResponseInputContent,
  ResponseInputItem,
} from 'openai/resources/responses/responses';
import type { ContentPart, FunctionResponsePart, MediaPart } from '../../../contracts/index.ts';
import type { ModelRequest } from '../../../runtime/index.ts';
import type { Declarations } from '../../schema/index.ts';
import {
  CallIds,
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
import { outputFormat } from './chat-encode.ts';
import { compactionEntries, itemsSinceCompaction } from './compaction.ts';
import { dataUrl, fileName } from './media.ts';

export interface ResponsesSettings {
  provider: string;
  config?: Readonly<Record<string, unknown>> | undefined;
  /** Tokens from which on the provider compacts by itself. */
  compactAt?: number | undefined;
}

/** What a text part remembers of the message that it was part of. */
export interface MessageState {
  phase?: string;
}

const names = { temperature: 'temperature', topP: 'top_p', maxOutputTokens: 'max_output_tokens' } as const;
const thinks = /(^|\/)(o\d|gpt-[5-9](?!.*-chat)|codex)/;

/** The body of a Responses request. Nothing is stored at the provider: the history is ours. */
export function responsesBody(
  request: ModelRequest,
  tools: Declarations,
  settings: ResponsesSettings,
  stream: boolean,
): Record<string, unknown> {
  const { common, rest } = splitConfig(settings.config, request.config);
  const body: Record<string, unknown> = {
    model: request.model,
    input: inputItems(request, tools, settings.provider),
    store: false,
    ...renamed(common, names),
  };
  if (request.systemInstruction !== '') body.instructions = request.systemInstruction;
  if (thinks.test(request.model)) body.include = ['reasoning.encrypted_content'];
  if (tools.tools.length > 0) {
    body.tools = tools.tools.map(({ alias, description, schema, strict }) => ({
      type: 'function',
      name: alias,
      description,
      parameters: schema,
      strict,
    }));
    const choice = common.toolChoice;
    if (typeof choice === 'string') body.tool_choice = choice;
    else if (choice) body.tool_choice = { type: 'function', name: tools.aliasOf(choice.name) };
  }
  if (request.outputSchema) body.text = { format: { type: 'json_schema', ...outputFormat(request) } };
  if (settings.compactAt !== undefined && request.purpose === undefined) {
    body.context_management = compactionEntries(settings.compactAt);
  }
  if (stream) body.stream = true;
  return withRest(body, rest);
}

function inputItems(request: ModelRequest, tools: Declarations, provider: string): ResponseInputItem[] {
  const items: ResponseInputItem[] = [];
  const ids = new CallIds(request.model);
  for (const { role, parts } of turnsOf(request.contents)) {
    if (role === 'user') items.push(...userItems(parts, ids));
    else items.push(...modelItems(parts, tools, provider, ids));
  }
  return itemsSinceCompaction(items);
}

function modelItems(
  parts: readonly ContentPart[],
  tools: Declarations,
  provider: string,
  ids: CallIds,
): ResponseInputItem[] {
  const items: ResponseInputItem[] = [];
  for (const part of parts) {
    const state = stateOf(part, provider);
    if (part.type === 'thought' || isOpaquePart(part)) {
      // Another provider's reasoning proves nothing here.
      if (state?.opaque) items.push(state.opaque as ResponseInputItem);
    } else if (part.type === 'function_call') {
      items.push({
        type: 'function_call',
        call_id: ids.add(part.id, state?.id),
        name: tools.aliasOf(part.name),
        arguments: JSON.stringify(part.args),
        ...(state?.opaque as object | undefined),
      });
    } else {
      const text = textOfPart(part);
      if (!text) continue;
      const { phase } = (state?.opaque as MessageState | undefined) ?? {};
      items.push({
        type: 'message',
        role: 'assistant',
        content: text,
        ...(phase === 'commentary' || phase === 'final_answer' ? { phase } : {}),
      });
    }
  }
  return items;
}

function userItems(parts: readonly ContentPart[], ids: CallIds): ResponseInputItem[] {
  const items: ResponseInputItem[] = [];
  const content: ResponseInputContent[] = [];
  for (const part of parts) {
    if (part.type === 'function_response') items.push(outputItem(part, ids));
    else if (part.type === 'media') content.push(mediaItem(part));
    else {
      const text = textOfPart(part);
      if (text) content.push({ type: 'input_text', text });
    }
  }
  if (content.length > 0) items.push({ type: 'message', role: 'user', content });
  return items;
}

function outputItem(part: FunctionResponsePart, ids: CallIds): ResponseInputItem {
  const text = outcomeText(part);
  const media = mediaOf(part).map(mediaItem);
  const output: string | ResponseFunctionCallOutputItem[] =
    media.length === 0 ? text : [{ type: 'input_text', text }, ...(media as ResponseFunctionCallOutputItem[])];
  return { type: 'function_call_output', call_id: ids.of(part.id), output };
}

function mediaItem(part: MediaPart): ResponseInputContent {
  const url = dataUrl(part);
  if (url !== undefined && part.mimeType.startsWith('image/')) {
    return { type: 'input_image', image_url: url, detail: 'auto' };
  }
  if (part.data !== undefined && part.mimeType.startsWith('text/')) {
    return { type: 'input_text', text: decodeText(part.data) };
  }
  if (part.mimeType === 'application/pdf' && url !== undefined) {
    return part.data === undefined
      ? { type: 'input_file', file_url: url }
      : { type: 'input_file', filename: fileName(part.mimeType), file_data: url };
  }
  return { type: 'input_text', text: mediaNote(part) };
}
