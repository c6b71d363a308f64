import {
  anthropicModel,
  geminiModel,
  openaiChatModel,
  openaiResponsesModel,
} from '../../../src/adapters/models/index.ts';
import type { Model, ModelRequest } from '../../../src/runtime/index.ts';
import { ask } from './kit.ts';

export interface Sent {
  [member: string]: unknown;
}
export type Make = (options: object) => Model;

/** The body that is sent; the answer is a refusal, which nobody reads. */
export async function sent(make: Make, init: Partial<ModelRequest>, stream = true): Promise<Sent> {
  let body: Sent = {};
  const fetch = async (_: unknown, { body: text }: { body?: unknown } = {}) => {
    body = JSON.parse(String(text)) as Sent;
    return Response.json({ error: { message: 'no' } }, { status: 400 });
  };
  await ask(make({ apiKey: 'sk-0123456789', fetch, retry: { retries: 0 } }), init, { stream });
  return body;
}

export const anthropic: Make = (options) => anthropicModel('claude', options);
export const chat: Make = (options) => openaiChatModel('gpt-4o', options);
export const responses: Make = (options) => openaiResponsesModel('gpt-4o', options);
export const gemini: Make = (options) => geminiModel('gemini-3-pro', options);
export const oldGemini: Make = (options) => geminiModel('gemini-2.5-pro', options);

export const messages = async (make: Make, ...contents: ModelRequest['contents'][number][]) =>
  (await sent(make, { contents })).messages as { role: string; content: unknown }[];
export const input = async (...contents: ModelRequest['contents'][number][]) =>
  (await sent(responses, { contents })).input as Sent[];
export const contentsOf = async (make: Make, ...contents: ModelRequest['contents'][number][]) =>
  (await sent(make, { contents })).contents as { role: string; parts: unknown[] }[];
