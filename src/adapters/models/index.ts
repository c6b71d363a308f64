/** Models of real providers. Importing this loads no vendor's package: each is loaded by the first request to it. */
export { agentLanguageModel, aiSdkModel } from './ai-sdk/index.ts';
export type { AnthropicOptions } from './anthropic/index.ts';
export { anthropicModel } from './anthropic/index.ts';
export type { CommonConfig, ToolChoice } from './content/index.ts';
export type { Env, ModelFromEnv } from './env.ts';
export { MODEL_KEYS, modelFromEnv } from './env.ts';
export { fallbackModel } from './fallback/index.ts';
export type { GeminiOptions } from './gemini/index.ts';
export { geminiModel } from './gemini/index.ts';
export type { ImageLimits } from './images/index.ts';
export { scaleImages } from './images/index.ts';
export type { OpenAIChatOptions, OpenAIResponsesOptions } from './openai/index.ts';
export { openaiChatModel, openaiResponsesModel } from './openai/index.ts';
export type { ProviderConfig } from './provider-kinds.ts';
export { keyOfModel } from './provider-kinds.ts';
export type { ModelRegistry, ModelRegistryOptions } from './registry.ts';
export { findModel, modelRegistry } from './registry.ts';
export type { ModelOptions, RetryOptions } from './wire/index.ts';
