/** Settings that every provider has under some name. */
export interface CommonConfig {
  temperature?: unknown;
  topP?: unknown;
  topK?: unknown;
  maxOutputTokens?: unknown;
  stopSequences?: unknown;
  seed?: unknown;
  presencePenalty?: unknown;
  frequencyPenalty?: unknown;
  toolChoice?: ToolChoice;
}

/** `required`: some tool; `{name}`: this one. */
export type ToolChoice = 'auto' | 'none' | 'required' | { name: string };

const common: Readonly<Record<string, keyof CommonConfig>> = {
  temperature: 'temperature',
  topP: 'topP',
  top_p: 'topP',
  topK: 'topK',
  top_k: 'topK',
  maxOutputTokens: 'maxOutputTokens',
  max_output_tokens: 'maxOutputTokens',
  maxTokens: 'maxOutputTokens',
  max_tokens: 'maxOutputTokens',
  max_completion_tokens: 'maxOutputTokens',
  stopSequences: 'stopSequences',
  stop_sequences: 'stopSequences',
  stop: 'stopSequences',
  seed: 'seed',
  presencePenalty: 'presencePenalty',
  presence_penalty: 'presencePenalty',
  frequencyPenalty: 'frequencyPenalty',
  frequency_penalty: 'frequencyPenalty',
  toolChoice: 'toolChoice',
};

/** Settings with a common meaning under one name each, and the provider's own, which pass through as they are. */
export function splitConfig(...layers: (Readonly<Record<string, unknown>> | undefined)[]): {
  common: CommonConfig;
  rest: Record<string, unknown>;
} {
  const found: Record<string, unknown> = {};
  const rest: Record<string, unknown> = {};
  for (const layer of layers) {
    for (const [key, value] of Object.entries(layer ?? {})) {
      if (value === undefined) continue;
      const name = Object.hasOwn(common, key) ? common[key] : undefined;
      if (name === undefined) rest[key] = value;
      else found[name] = value;
    }
  }
  return { common: found as CommonConfig, rest };
}

/** The settings under the provider's names; what has no name there is left out. */
export function renamed(
  config: CommonConfig,
  names: Partial<Record<keyof CommonConfig, string>>,
): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const [key, name] of Object.entries(names)) {
    const value = config[key as keyof CommonConfig];
    if (value !== undefined) out[name] = value;
  }
  return out;
}

/** The body with the provider's own settings. Tools among them (a search of the provider's) stand beside the agent's. */
export function withRest<Body extends object>(body: Body, rest: Readonly<Record<string, unknown>>): Body {
  const { tools: declared } = body as { tools?: unknown };
  const tools = Array.isArray(declared) && Array.isArray(rest.tools) ? { tools: [...declared, ...rest.tools] } : {};
  return Object.assign(body, rest, tools);
}
