/**
 * Tokens that a request may have, by the beginning of a model's name: what providers publish of their own models, less the 128,000 that
 * OpenAI keeps for an answer of GPT-5. The longest beginning that fits counts. A newer model of a family has as much, or more.
 */
const WINDOWS: Readonly<Record<string, number>> = {
  'claude-': 200_000,
  'claude-2.0': 100_000,
  'claude-fable-': 1_000_000,
  'claude-instant': 100_000,
  'claude-mythos-': 1_000_000,
  'claude-opus-4-6': 1_000_000,
  'claude-opus-4-7': 1_000_000,
  'claude-opus-4-8': 1_000_000,
  'claude-opus-5': 1_000_000,
  'claude-sonnet-4-6': 1_000_000,
  'claude-sonnet-5': 1_000_000,
  'deepseek-chat': 128_000,
  'deepseek-reasoner': 128_000,
  'gemini-': 1_048_576,
  'gemini-1.0': 30_720,
  'gpt-3.5-turbo': 16_385,
  'gpt-4': 8_192,
  'gpt-4-32k': 32_768,
  'gpt-4-turbo': 128_000,
  'gpt-4.1': 1_047_576,
  'gpt-4o': 128_000,
  'gpt-5': 272_000,
  'gpt-5-chat': 128_000,
  'gpt-5.1-chat': 128_000,
  'gpt-5.2-chat': 128_000,
  'gpt-5.4': 922_000,
  'gpt-5.4-mini': 272_000,
  'gpt-5.4-nano': 272_000,
  'gpt-5.5': 922_000,
  'grok-3': 131_072,
  'grok-4': 256_000,
  'mistral-large': 128_000,
  o1: 200_000,
  'o1-mini': 128_000,
  'o1-preview': 128_000,
  o3: 200_000,
  'o4-mini': 200_000,
};

const byLength = Object.entries(WINDOWS).sort(([a], [b]) => b.length - a.length);

/** The same for one model, with or without its provider's name before it. Undefined: it is not known. */
export function windowOf(name: string): number | undefined {
  const model = name.slice(name.lastIndexOf('/') + 1).toLowerCase();
  return byLength.find(([beginning]) => model.startsWith(beginning))?.[1];
}
