import type { Content as GeminiContent, GenerateContentConfig, Part } from '@google/genai';
import type { ContentPart, FunctionResponsePart, JsonSchema, MediaPart } from '../../../contracts/index.ts';
import type { ModelRequest } from '../../../runtime/index.ts';
import type { Declarations } from '../../schema/index.ts';
import {
  CallIds,
  decodeText,
  isOpaquePart,
  mediaNote,
  mediaOf,
  renamed,
  splitConfig,
  stateOf,
  textOfPart,
  toolOutcome,
  turnsOf,
  withRest,
} from '../content/index.ts';

export interface GeminiSettings {
  provider: string;
  config?: Readonly<Record<string, unknown>> | undefined;
}

/** What a part remembers: the signature, or the whole of a part that has no other form. */
export interface GeminiState {
  thoughtSignature?: string;
  part?: Part;
}

/** Says to models that insist on signatures that a call was not made by one of them. */
const UNSIGNED = 'skip_thought_signature_validator';
const insists = /gemini-([3-9]|\d\d)/;

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

export function geminiConfig(
  request: ModelRequest,
  tools: Declarations,
  settings: GeminiSettings,
): GenerateContentConfig {
  const { common, rest } = splitConfig(settings.config, request.config);
  const config: Record<string, unknown> = renamed(common, names);
  const { outputSchema } = request;
  // Older models refuse tools and a format of the answer in one request: they are told in words.
  const isForm = outputSchema !== undefined && (tools.tools.length === 0 || insists.test(request.model));
  const instructions = [request.systemInstruction, ...(outputSchema && !isForm ? [inWords(outputSchema)] : [])];
  const systemInstruction = instructions.filter((text) => text !== '').join('\n\n');
  if (systemInstruction !== '') config.systemInstruction = systemInstruction;
  if (tools.tools.length > 0) {
    // Made anew for each request: the SDK rewrites what it is given.
    const functionDeclarations = tools.tools.map(({ alias, description, schema }) => ({
      name: alias,
      description,
      ...(schema ? { parameters: schema } : {}),
    }));
    config.tools = [{ functionDeclarations }];
    const choice = common.toolChoice;
    if (typeof choice === 'string') {
      const mode = choice === 'required' ? 'ANY' : choice.toUpperCase();
      config.toolConfig = { functionCallingConfig: { mode } };
    } else if (choice) {
      const allowedFunctionNames = [tools.aliasOf(choice.name)];
      config.toolConfig = { functionCallingConfig: { mode: 'ANY', allowedFunctionNames } };
    }
  }
  if (isForm) {
    config.responseMimeType = 'application/json';
    config.responseJsonSchema = outputSchema;
  }
  return withRest(config, rest);
}

function inWords(schema: JsonSchema): string {
  return `Your final answer is JSON that fits this JSON Schema, and nothing else: ${JSON.stringify(schema)}`;
}

export function geminiContents(request: ModelRequest, tools: Declarations, provider: string): GeminiContent[] {
  const contents: GeminiContent[] = [];
  const ids = new CallIds(request.model);
  const signs = insists.test(request.model);
  for (const { role, parts } of turnsOf(request.contents)) {
    const converted =
      role === 'user' ? userParts(parts, tools, ids, signs) : modelParts(parts, tools, provider, ids, signs);
    if (converted.length > 0) contents.push({ role, parts: converted });
  }
  return contents;
}

/** An answer as it came: each signature on the very part that it came with, and on no other. */
function modelParts(
  parts: readonly ContentPart[],
  tools: Declarations,
  provider: string,
  ids: CallIds,
  signs: boolean,
): Part[] {
  const out: Part[] = [];
  const foreign = !parts.some((part) => stateOf(part, provider));
  let isFirstCall = true;
  for (const part of parts) {
    const state = stateOf(part, provider);
    const opaque = state?.opaque as GeminiState | undefined;
    const signed = opaque?.thoughtSignature === undefined ? {} : { thoughtSignature: opaque.thoughtSignature };
    if (opaque?.part) out.push(opaque.part);
    else if (isOpaquePart(part)) continue;
    else if (part.type === 'thought') {
      // Another provider's thoughts are not sent.
      if (state) out.push({ text: part.thought, thought: true, ...signed });
    } else if (part.type === 'function_call') {
      // Only ids that Gemini gave go back: without one it pairs calls and responses by their order.
      if (state?.id !== undefined) ids.add(part.id, state.id);
      const functionCall = {
        ...(state?.id === undefined ? {} : { id: state.id }),
        name: tools.aliasOf(part.name),
        args: part.args,
      };
      const stand = signs && foreign && isFirstCall ? { thoughtSignature: UNSIGNED } : {};
      out.push({ functionCall, ...signed, ...stand });
      isFirstCall = false;
    } else if (part.type === 'media') out.push({ ...mediaPart(part), ...signed });
    else {
      const text = textOfPart(part);
      if (text || opaque?.thoughtSignature !== undefined) out.push({ text: text ?? '', ...signed });
    }
  }
  return out;
}

function userParts(parts: readonly ContentPart[], tools: Declarations, ids: CallIds, nests: boolean): Part[] {
  const responses: Part[] = [];
  const others: Part[] = [];
  for (const part of parts) {
    if (part.type === 'function_response') {
      const media = mediaOf(part).map(mediaPart);
      const id = ids.find(part.id);
      const functionResponse: NonNullable<Part['functionResponse']> = {
        ...(id === undefined ? {} : { id }),
        name: tools.aliasOf(part.name),
        response: responseObject(part),
      };
      if (media.length > 0 && nests) functionResponse.parts = media as NonNullable<typeof functionResponse.parts>;
      else others.push(...media);
      responses.push({ functionResponse });
    } else if (part.type === 'media') others.push(mediaPart(part));
    else {
      const text = textOfPart(part);
      if (text) others.push({ text });
    }
  }
  return [...responses, ...others];
}

/** Gemini takes objects only, and does not want to hear the same thing twice. */
function responseObject(part: FunctionResponsePart): Record<string, unknown> {
  const { response, beside } = toolOutcome(part);
  const value: unknown = response;
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  const object = isObject ? (value as Record<string, unknown>) : { content: value ?? null };
  return beside.length === 0 || 'text' in object ? object : { ...object, text: beside.join('\n') };
}

function mediaPart(part: MediaPart): Part {
  const { mimeType, data, uri } = part;
  if (data === undefined)
    return uri === undefined ? { text: mediaNote(part) } : { fileData: { mimeType, fileUri: uri } };
  return mimeType.startsWith('text/') ? { text: decodeText(data) } : { inlineData: { mimeType, data } };
}
