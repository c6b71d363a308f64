import type { Model } from '../../runtime/index.ts';
import { anthropicModel } from './anthropic/index.ts';
import { geminiModel } from './gemini/index.ts';
import { openaiChatModel, openaiResponsesModel } from './openai/index.ts';

/** Whoever makes a model of each API, by the API's name: every wire that there is. */
export const APIS = {
  openai: openaiChatModel,
  'openai-responses': openaiResponsesModel,
  anthropic: anthropicModel,
  gemini: geminiModel,
} as const;

export type Api = keyof typeof APIS;

type OptionsOf<A extends Api> = NonNullable<Parameters<(typeof APIS)[A]>[1]>;

/** A provider by the API it speaks. */
export type ProviderConfig = { [A in Api]: { api: A } & OptionsOf<A> }[Api];

/** Makes the model of that name by the API of its provider. */
export function makeModel(name: string, { api, ...options }: ProviderConfig): Model {
  const make: (name: string, options: never) => Model = APIS[api];
  return make(name, options as never);
}

/** What is known of a provider: all that finds its models by name and its keys in the environment. */
interface ProviderRow<O> {
  /** `prefix/name` asks it for `name`. */
  readonly prefixes: readonly string[];
  /** Names of models that are its own. */
  readonly names: RegExp;
  /** How these are told to people. */
  readonly shown: string;
  /** Variables that its key is read from, the usual one first. */
  readonly keys: readonly [string, ...string[]];
  /** The variable that its address is read from. */
  readonly baseUrl: string;
  /** Its model where none is named. */
  readonly model: string;
  /** Under its own address it serves any name: its owner gives them. */
  readonly servesAny?: true;
  config(options: O): ProviderConfig;
}

/** Options of each provider, as a registry is given them. */
export interface ProviderOptions {
  /** For `gemini…`, `gemini/…` and `google/…`. */
  gemini?: OptionsOf<'gemini'>;
  /** For `claude…`, `anthropic/…` and `claude/…`. */
  anthropic?: OptionsOf<'anthropic'>;
  /** For `gpt…`, `o1…` and the like, and `openai/…`. The default API is Responses at OpenAI, Chat Completions elsewhere. */
  openai?: (OptionsOf<'openai'> & OptionsOf<'openai-responses'>) & { api?: 'chat' | 'responses' };
}

export type Provider = keyof ProviderOptions;

/** A new provider is a row here, and its options above. In this order: the first with a key is asked, where no model is named. */
export const PROVIDERS: { readonly [P in Provider]: ProviderRow<NonNullable<ProviderOptions[P]>> } = {
  gemini: {
    prefixes: ['gemini', 'google'],
    names: /^(models\/)?(gemini|gemma|learnlm)/,
    shown: 'gemini…',
    keys: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    baseUrl: 'GEMINI_BASE_URL',
    model: 'gemini-flash-latest',
    config: (options) => ({ api: 'gemini', ...options }),
  },
  anthropic: {
    prefixes: ['anthropic', 'claude'],
    names: /^claude/,
    shown: 'claude…',
    keys: ['ANTHROPIC_API_KEY'],
    baseUrl: 'ANTHROPIC_BASE_URL',
    model: 'claude-sonnet-5',
    config: (options) => ({ api: 'anthropic', ...options }),
  },
  openai: {
    prefixes: ['openai'],
    names: /^(gpt|chatgpt|codex|o\d)/,
    shown: 'gpt…, o…',
    keys: ['OPENAI_API_KEY'],
    baseUrl: 'OPENAI_BASE_URL',
    model: 'gpt-5-mini',
    servesAny: true,
    config({ api, ...options }) {
      const spoken = api ?? (options.baseUrl === undefined ? 'responses' : 'chat');
      return { ...options, api: spoken === 'responses' ? 'openai-responses' : 'openai' };
    },
  },
};

export const providerNames = Object.keys(PROVIDERS) as readonly Provider[];

/** The provider that has that prefix. */
export function providerOfPrefix(prefix: string): Provider | undefined {
  return providerNames.find((name) => PROVIDERS[name].prefixes.includes(prefix));
}

/** The provider whose own model that name is. */
export function providerOfName(model: string): Provider | undefined {
  return providerNames.find((name) => PROVIDERS[name].names.test(model));
}

/** The usual variable of the key that a model of that name needs; undefined: nobody knows whose it is. */
export function keyOfModel(model: string): string | undefined {
  const slash = model.indexOf('/');
  const byPrefix = slash > 0 ? providerOfPrefix(model.slice(0, slash)) : undefined;
  const provider = byPrefix ?? providerOfName(model);
  return provider && PROVIDERS[provider].keys[0];
}

/** What a registry is told of a provider as {@link ProviderConfig}; undefined where it is not set up. */
export function configOf<P extends Provider>(name: P, options: ProviderOptions): ProviderConfig | undefined {
  const own = options[name];
  const row: ProviderRow<NonNullable<ProviderOptions[P]>> = PROVIDERS[name];
  return own && row.config(own);
}
