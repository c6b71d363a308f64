import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4TextPart,
  LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider';
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
import type { fileForm } from './files.ts';

type AssistantPart = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'][number];

/** What a part remembers of an answer: the metadata that its provider gave with it, or the whole of a part without another form. */
export interface AiSdkState {
  metadata?: Record<string, unknown>;
  part?: Record<string, unknown>;
}

export interface PromptSettings {
  /** Under which name the state of this provider is kept. */
  provider: string;
  config?: Readonly<Record<string, unknown>> | undefined;
  files: ReturnType<typeof fileForm>;
  /** Takes files inside a tool's result. */
  nests: boolean;
  /** Addresses that the provider reads by itself, by type of media. */
  urls?: Readonly<Record<string, readonly RegExp[]>> | undefined;
  /** Files that go as such: 0 all, 1 pictures, 2 none. */
  level?: number;
}

const names = {
  temperature: 'temperature',
  topP: 'topP',
  topK: 'topK',
  maxOutputTokens: 'maxOutputTokens',
  stopSequences: 'stopSequences',
  seed: 'seed',
  presencePenalty: 'presencePenalty',
  frequencyPenalty: 'frequencyPenalty',
} as const;

/** A request as a model of the AI SDK takes it. */
export function callOptions(
  request: ModelRequest,
  tools: Declarations,
  settings: PromptSettings,
): LanguageModelV4CallOptions {
  const { common, rest } = splitConfig(settings.config, request.config);
  const options: LanguageModelV4CallOptions = { prompt: promptOf(request, tools, settings), ...renamed(common, names) };
  if (tools.tools.length > 0) {
    options.tools = tools.tools.map(({ alias, description, schema }) => ({
      type: 'function',
      name: alias,
      description,
      inputSchema: schema ?? { type: 'object', properties: {} },
    }));
    const choice = common.toolChoice;
    if (typeof choice === 'string') options.toolChoice = { type: choice };
    else if (choice) options.toolChoice = { type: 'tool', toolName: tools.aliasOf(choice.name) };
  }
  if (request.outputSchema) options.responseFormat = { type: 'json', name: 'answer', schema: request.outputSchema };
  return withRest(options, rest);
}

function promptOf(request: ModelRequest, tools: Declarations, settings: PromptSettings): LanguageModelV4Message[] {
  const prompt: LanguageModelV4Message[] = [];
  if (request.systemInstruction !== '') prompt.push({ role: 'system', content: request.systemInstruction });
  const ids = new CallIds(request.model);
  for (const { role, parts } of turnsOf(request.contents)) {
    if (role === 'user') prompt.push(...userMessages(parts, tools, ids, settings));
    else {
      const content = assistantParts(parts, tools, ids, settings);
      if (content.length > 0) prompt.push({ role: 'assistant', content });
    }
  }
  return prompt;
}

/** What the model had said before it paused: its answer goes on from there. */
export function withBegun(
  { prompt }: LanguageModelV4CallOptions,
  begun: readonly ContentPart[],
  tools: Declarations,
  settings: PromptSettings,
): void {
  const content = assistantParts(begun, tools, new CallIds(''), settings);
  if (content.length > 0) prompt.push({ role: 'assistant', content });
}

function assistantParts(
  parts: readonly ContentPart[],
  tools: Declarations,
  ids: CallIds,
  settings: PromptSettings,
): AssistantPart[] {
  const out: AssistantPart[] = [];
  for (const part of parts) {
    const state = stateOf(part, settings.provider);
    const opaque = state?.opaque as AiSdkState | undefined;
    const options = optionsOf(opaque?.metadata);
    if (isOpaquePart(part)) {
      if (opaque?.part) out.push(opaque.part as unknown as AssistantPart);
    } else if (part.type === 'thought') {
      // Another provider's thoughts are not sent.
      if (state) out.push({ type: 'reasoning', text: part.thought, ...options });
    } else if (part.type === 'function_call') {
      const toolCallId = ids.add(part.id, state?.id);
      out.push({ type: 'tool-call', toolCallId, toolName: tools.aliasOf(part.name), input: part.args, ...options });
    } else if (part.type === 'media') {
      const file = fileOf(part, settings);
      if (file) out.push({ ...file, ...options } as AssistantPart);
    } else {
      const text = textOfPart(part) ?? '';
      // A block of nothing but white space is refused by some, unless a signature came with it.
      if (text.trim() !== '' || opaque?.metadata) out.push({ type: 'text', text, ...options });
    }
  }
  return out;
}

function optionsOf(metadata: Record<string, unknown> | undefined): Pick<LanguageModelV4TextPart, 'providerOptions'> {
  return metadata ? { providerOptions: metadata as NonNullable<LanguageModelV4TextPart['providerOptions']> } : {};
}

/** Results first; their files stand beside them where they cannot stand in them. */
function userMessages(
  parts: readonly ContentPart[],
  tools: Declarations,
  ids: CallIds,
  settings: PromptSettings,
): LanguageModelV4Message[] {
  const results: LanguageModelV4ToolResultPart[] = [];
  const content: (LanguageModelV4TextPart | LanguageModelV4FilePart)[] = [];
  for (const part of parts) {
    if (part.type === 'function_response') {
      results.push(resultOf(part, tools, ids, settings));
      const media = settings.nests ? [] : mediaOf(part);
      if (media.length > 0) content.push({ type: 'text', text: `Attached to the result of ${part.name}:` });
      for (const item of media) content.push(fileOrWords(item, settings));
    } else if (part.type === 'media') content.push(fileOrWords(part, settings));
    else {
      const text = textOfPart(part);
      if (text && text.trim() !== '') content.push({ type: 'text', text });
    }
  }
  return [
    ...(results.length > 0 ? [{ role: 'tool' as const, content: results }] : []),
    ...(content.length > 0 ? [{ role: 'user' as const, content }] : []),
  ];
}

function resultOf(
  part: FunctionResponsePart,
  tools: Declarations,
  ids: CallIds,
  settings: PromptSettings,
): LanguageModelV4ToolResultPart {
  const output = outputOf(part, settings);
  return { type: 'tool-result', toolCallId: ids.of(part.id), toolName: tools.aliasOf(part.name), output };
}

function outputOf(part: FunctionResponsePart, settings: PromptSettings): LanguageModelV4ToolResultPart['output'] {
  const value = outcomeText(part);
  const media = settings.nests ? mediaOf(part) : [];
  if (media.length > 0) {
    const said = value.trim() === '' ? [] : [{ type: 'text' as const, text: value }];
    return { type: 'content', value: [...said, ...media.map((item) => fileOrWords(item, settings))] };
  }
  if (!part.isError) return { type: 'text', value };
  // Providers put the words of an error into an object of their own.
  const { error } = part.response;
  const isPlain = typeof error === 'string' && Object.keys(part.response).length === 1 && part.content === undefined;
  return { type: 'error-text', value: isPlain ? error : value };
}

function fileOrWords(part: MediaPart, settings: PromptSettings): LanguageModelV4TextPart | LanguageModelV4FilePart {
  const { mimeType, data } = part;
  if (data !== undefined && mimeType.startsWith('text/')) return { type: 'text', text: decodeText(data) };
  return fileOf(part, settings) ?? { type: 'text', text: mediaNote(part) };
}

/** Undefined for what does not go as a file. Nothing is fetched here: an address goes only to who reads it himself. */
function fileOf(
  { mimeType, data, uri }: MediaPart,
  { files, urls = {}, level = 0 }: PromptSettings,
): LanguageModelV4FilePart | undefined {
  if (level > 1 || (level === 1 && !mimeType.startsWith('image/'))) return undefined;
  if (data !== undefined) return { type: 'file', mediaType: mimeType, data: files({ data }) };
  if (uri === undefined || !URL.canParse(uri) || !isRead(uri, mimeType, urls)) return undefined;
  return { type: 'file', mediaType: mimeType, data: files({ url: new URL(uri) }) };
}

function isRead(uri: string, mimeType: string, urls: Readonly<Record<string, readonly RegExp[]>>): boolean {
  const [top = ''] = mimeType.split('/');
  return ['*', '*/*', `${top}/*`, mimeType].some((type) => urls[type]?.some((each) => each.test(uri)));
}
