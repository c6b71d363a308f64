/** Models of real providers. Importing this loads no vendor's package: each is loaded by the first request to it. */
export type { AnthropicOptions } from './anthropic/anthropic.ts';
export { anthropicModel } from './anthropic/anthropic.ts';
export type { CommonConfig, ToolChoice } from './content/config.ts';
export type { Env, ModelFromEnv } from './env.ts';
export { MODEL_KEYS, modelFromEnv } from './env.ts';
export type { GeminiOptions } from './gemini/gemini.ts';
export { geminiModel } from './gemini/gemini.ts';
export type { OpenAIChatOptions } from './openai/chat.ts';
export { openaiChatModel } from './openai/chat.ts';
export type { OpenAIResponsesOptions } from './openai/responses.ts';
export { openaiResponsesModel } from './openai/responses.ts';
export type { ModelRegistry, ModelRegistryOptions, ProviderConfig } from './registry.ts';
export { findModel, modelRegistry } from './registry.ts';
export type { ModelOptions } from './wire/options.ts';
export type { RetryOptions } from './wire/retry.ts';
