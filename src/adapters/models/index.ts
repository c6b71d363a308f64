/** Models of real providers. Importing this loads no vendor's package: each is loaded by the first request to it. */
export type { AnthropicOptions } from './anthropic.ts';
export { anthropicModel } from './anthropic.ts';
export type { CommonConfig, ToolChoice } from './config.ts';
export type { Env, ModelFromEnv } from './env.ts';
export { MODEL_KEYS, modelFromEnv } from './env.ts';
export type { GeminiOptions } from './gemini.ts';
export { geminiModel } from './gemini.ts';
export type { OpenAIChatOptions } from './openai.ts';
export { openaiChatModel } from './openai.ts';
export type { OpenAIResponsesOptions } from './openai-responses.ts';
export { openaiResponsesModel } from './openai-responses.ts';
export type { ModelOptions } from './options.ts';
export type { ModelRegistry, ModelRegistryOptions, ProviderConfig } from './registry.ts';
export { findModel, modelRegistry } from './registry.ts';
export type { RetryOptions } from './retry.ts';
