/** Anthropic Messages. */
export type { AnthropicOptions } from './anthropic.ts';
export { anthropicModel } from './anthropic.ts';
