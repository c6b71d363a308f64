/**
 * Executors for `coxswain/dispatch` that are ready to use.
 * Stability: experimental.
 *
 * @packageDocumentation
 */
export { OpenAIChatCompletionsAdapter, WebLLMChatCompletionsAdapter } from '../adapters/batteries/index.ts';
