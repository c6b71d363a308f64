/** Ready-made executors. They use what anybody's executor may use, and nothing else. */
export { OpenAIChatCompletionsAdapter } from './openai-chat-completions.ts';
export type { BatteryHelpers, BatteryRetry, ChatOptions, OpenAIChatCompletionsOptions } from './options.ts';
export { OPENAI_STASH_KEY, WEB_LLM_STASH_KEY } from './options.ts';
export type { WebLLMChatCompletionsOptions, WebLLMEngine } from './web-llm-chat-completions.ts';
export { WebLLMChatCompletionsAdapter } from './web-llm-chat-completions.ts';
