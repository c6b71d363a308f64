import type { Content, ContentPart, FunctionCallPart, ToolDescriptor } from '../../../src/contracts/index.ts';
import type { Model, ModelRequest, ModelResponse } from '../../../src/runtime/index.ts';

export const never = new AbortController().signal;

export function user(...parts: (string | ContentPart)[]): Content {
  return { role: 'user', parts: parts.map((part) => (typeof part === 'string' ? { type: 'text', text: part } : part)) };
}

export function model(...parts: (string | ContentPart)[]): Content {
  return { ...user(...parts), role: 'model' };
}

export function call(id: string, name: string, args: Record<string, unknown> = {}): FunctionCallPart {
  return { type: 'function_call', id, name, args };
}

export function result(id: string, name: string, response: Record<string, unknown>): ContentPart {
  return { type: 'function_response', id, name, response };
}

export function tool(name: string, properties: Record<string, unknown> = {}): [string, ToolDescriptor] {
  return [name, { name, description: `does ${name}`, inputSchema: { type: 'object', properties } }];
}

export function request(init: Partial<ModelRequest> = {}): ModelRequest {
  return {
    model: '',
    systemInstruction: '',
    contents: [user('hi')],
    config: {},
    tools: new Map(),
    agent: 'agent',
    ...init,
  };
}

export interface Answered {
  frames: ModelResponse[];
  /** The last frame. */
  last: ModelResponse;
  /** Text and thoughts as they were shown in pieces. */
  text: string;
  thought: string;
}

export async function ask(
  asked: Model,
  init: Partial<ModelRequest> = {},
  options: { stream?: boolean; signal?: AbortSignal } = {},
): Promise<Answered> {
  const { stream = true, signal = never } = options;
  const frames: ModelResponse[] = [];
  for await (const frame of asked.generate(request(init), { stream, signal })) {
    frames.push(JSON.parse(JSON.stringify(frame)) as ModelResponse);
  }
  const parts = frames.filter((frame) => frame.partial).flatMap((frame) => frame.content?.parts ?? []);
  const last = frames.at(-1);
  if (!last) throw new Error('the model said nothing');
  return {
    frames,
    last,
    text: parts.map((part) => (part.type === 'text' ? part.text : '')).join(''),
    thought: parts.map((part) => (part.type === 'thought' ? part.thought : '')).join(''),
  };
}

/**
 * A model's answer as the runtime stores it: calls get ids of its own, and so do the results that are made for them.
 */
export function stored(answer: ModelResponse, results: Record<string, unknown>[] = []): Content[] {
  let count = 0;
  const content = JSON.parse(JSON.stringify(answer.content)) as Content;
  const responses: ContentPart[] = [];
  for (const part of content.parts) {
    if (part.type !== 'function_call') continue;
    part.id = `run-${count}-${part.name}`;
    const provider = part._meta?.provider;
    responses.push({
      ...result(part.id, part.name, results[count] ?? { ok: true }),
      ...(provider === undefined ? {} : { _meta: { provider } }),
    });
    count++;
  }
  return responses.length > 0 ? [content, { role: 'user', parts: responses }] : [content];
}

/** Chunks as they are: a `fetch` whose body comes in exactly these pieces. */
export function fetchOf(pieces: readonly Uint8Array[], contentType = 'text/event-stream'): typeof fetch {
  return async () => {
    let next = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        const piece = pieces[next++];
        if (piece) controller.enqueue(piece);
        else controller.close();
      },
    });
    return new Response(body, { headers: { 'content-type': contentType } });
  };
}

export function sse(...events: (object | string)[]): string {
  return events.map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`).join('');
}

/** Events with their names, as Anthropic and the Responses API send them. */
export function named(...events: { type: string }[]): string {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}
