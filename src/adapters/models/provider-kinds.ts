/** A provider that models are found at by their names alone. */
export interface ProviderKind {
  /** The option of a registry that sets it up. */
  kind: 'gemini' | 'anthropic' | 'openai';
  /** `prefix/name` asks it for `name`. */
  prefixes: readonly string[];
  /** Names without a prefix that are its models'. */
  names: RegExp;
  /** Such names, in errors. */
  shown: string;
  /** Variables that its key is read from: the first that is set. */
  keys: readonly string[];
  /** Variable of its base URL. */
  baseUrl: string;
  /** Model that is asked where none is named. */
  model: string;
}

export type Kind = ProviderKind['kind'];

/** In this order: the first with a key is asked, where no model is named. A new provider is a row here. */
export const PROVIDER_KINDS: readonly ProviderKind[] = [
  {
    kind: 'gemini',
    prefixes: ['gemini', 'google'],
    names: /^(models\/)?(gemini|gemma|learnlm)/,
    shown: 'gemini…',
    keys: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    baseUrl: 'GEMINI_BASE_URL',
    model: 'gemini-flash-latest',
  },
  {
    kind: 'anthropic',
    prefixes: ['anthropic', 'claude'],
    names: /^claude/,
    shown: 'claude…',
    keys: ['ANTHROPIC_API_KEY'],
    baseUrl: 'ANTHROPIC_BASE_URL',
    model: 'claude-sonnet-5',
  },
  {
    kind: 'openai',
    prefixes: ['openai'],
    names: /^(gpt|chatgpt|codex|o\d)/,
    shown: 'gpt…, o…',
    keys: ['OPENAI_API_KEY'],
    baseUrl: 'OPENAI_BASE_URL',
    model: 'gpt-5-mini',
  },
];
