/** OpenAI Chat Completions and Responses. */

export type { OpenAIChatOptions } from './chat.ts';
export { openaiChatModel } from './chat.ts';
export type { ChatChunk } from './chat-decode.ts';
export { ChatDecoder } from './chat-decode.ts';
export { audioFormat } from './media.ts';
export type { OpenAIResponsesOptions } from './responses.ts';
export { openaiResponsesModel } from './responses.ts';
