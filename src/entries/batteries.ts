/**
 * Executors for `coxswain/dispatch` that are ready to use.
 * Stability: experimental.
 *
 * @packageDocumentation
 */
export type { WebLLMEngine } from '../adapters/batteries/index.ts';
export { OpenAIChatCompletionsAdapter, WebLLMChatCompletionsAdapter } from '../adapters/batteries/index.ts';
