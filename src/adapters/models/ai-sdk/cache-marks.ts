import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { CacheMark } from '../content/index.ts';

/** Marks the end of tools, of system, and of the newest two messages of the user, as Anthropic's package of the AI SDK takes it. */
export function markPrompt(options: LanguageModelV4CallOptions, mark: CacheMark): void {
  const { tools = [], prompt } = options;
  if (JSON.stringify([tools, options.providerOptions]).includes('"cacheControl"')) return;
  const cacheControl = { ...mark };
  const providerOptions = { anthropic: { cacheControl } };
  const last = tools.findLast(({ type }) => type === 'function');
  if (last) options.tools = tools.map((tool) => (tool === last ? { ...tool, providerOptions } : tool));
  const users = prompt.filter(({ role }) => role === 'user' || role === 'tool').slice(-2);
  options.prompt = prompt.map((message) =>
    message.role === 'system' || users.includes(message) ? { ...message, providerOptions } : message,
  );
}
