import type { PriceTable } from '../../contracts/index.ts';
import { CoxswainError } from '../../contracts/index.ts';
import type { Model } from '../../runtime/index.ts';
import type { Check, Shape } from '../../session/index.ts';
import { bag, checkIs, checkOptions, guarded, names, object, text } from '../../session/index.ts';
import type { FallbackOptions } from './fallback/index.ts';
import { checkFallback, fallbackModel } from './fallback/index.ts';
import type { ProviderConfig, ProviderOptions } from './provider-kinds.ts';
import {
  APIS,
  configOf,
  makeModel,
  PROVIDERS,
  providerNames,
  providerOfName,
  providerOfPrefix,
} from './provider-kinds.ts';

export interface ModelRegistryOptions extends ProviderOptions {
  /** Further providers by their prefix: `deepseek/deepseek-chat` asks `deepseek` for `deepseek-chat`. Or what makes its models. */
  providers?: Readonly<Record<string, ProviderConfig | ((name: string) => Model)>>;
  /**
   * Lists of models by a name of their own, as `fallbackModel` takes them: `{ main: ['claude-sonnet-5', 'gpt-5'] }`. Without
   * one, names with commas between are a list: `claude-sonnet-5,gpt-5`.
   */
  lists?: Readonly<Record<string, readonly string[] | ({ readonly models: readonly string[] } & FallbackOptions)>>;
  /** USD per million tokens by any name that a model is found under: answers then have their cost. */
  prices?: PriceTable;
  /** Whoever takes every other name, whole, as a proxy for many providers does. */
  fallback?: ProviderConfig;
}

export interface ModelRegistry {
  /**
   * The model of that name; the same object each time.
   * @throws CoxswainError `NOT_FOUND / E_NO_MODEL` for a name that no provider is set up for
   */
  findModel(name: string): Model;
  /** As {@link findModel}, but undefined for an unknown name: what a runner and a host take. */
  models(name: string): Model | undefined;
}

const apis = Object.keys(APIS).map((api) => `'${api}'`);

const provider: Check = {
  needs: `options of a provider, with api: ${apis.slice(0, -1).join(', ')} or ${apis.at(-1)}`,
  fits: (value) => object.fits(value) && Object.hasOwn(APIS, String((value as ProviderConfig).api)),
};
const shape: Shape<ModelRegistryOptions> = {
  ...(Object.fromEntries(providerNames.map((name) => [name, object])) as Record<keyof ProviderOptions, Check>),
  providers: bag,
  lists: bag,
  prices: object,
  fallback: provider,
};

/**
 * Finds models by name, among the providers that were set up.
 * @example
 * ```ts
 * import { createHost, LlmAgent } from 'coxswain';
 * import { modelRegistry } from 'coxswain/models';
 *
 * const { models } = modelRegistry({ openai: { apiKey: process.env.OPENAI_API_KEY ?? '' } });
 * createHost({ app: 'shop', agents: [new LlmAgent({ name: 'clerk', model: 'gpt-5' })], models });
 * ```
 */
export function modelRegistry(options: ModelRegistryOptions): ModelRegistry {
  checkOptions<ModelRegistryOptions>(options, 'modelRegistry: options', shape);
  for (const [prefix, config] of Object.entries(options.providers ?? {}))
    if (typeof config !== 'function') checkIs(config, `modelRegistry: options.providers.${prefix}`, provider);
  const lists = new Map(Object.entries(options.lists ?? {}).map(([name, given]) => [name, listOf(name, given)]));
  const found = new Map<string, Model>();
  const one = (name: string): Model | undefined => {
    const choice = choose(name, options);
    if (!choice) return undefined;
    const { model, config } = choice;
    if (typeof config === 'function') return guarded(`modelRegistry: the provider of ${name}`, () => config(model));
    return makeModel(model, withPrices(config, options.prices, name, model));
  };
  /** A list is known if all of its models are: one that is never found out would be missed when it is needed. */
  const several = (name: string, { models: names, ...how }: List): Model | undefined => {
    const members = names.flatMap((each) => (lists.has(each) || each.includes(',') ? [] : (models(each) ?? [])));
    return members.length < names.length ? undefined : fallbackModel(members, { name, ...how });
  };
  const models = (name: string): Model | undefined => {
    checkIs(name, 'the name of a model', text);
    const known = found.get(name);
    if (known) return known;
    const list =
      lists.get(name) ?? (name.includes(',') ? { models: name.split(',').map((each) => each.trim()) } : undefined);
    const made = list ? several(name, list) : one(name);
    if (!made) return undefined;
    const model = knownAs(name, made);
    // Bounded: names may come from outside.
    if (found.size < 1000) found.set(name, model);
    return model;
  };
  return {
    models,
    findModel(name) {
      const model = models(name);
      if (model) return model;
      throw new CoxswainError('NOT_FOUND', 'E_NO_MODEL', `no provider is set up for model ${name}; ${setUp(options)}`);
    },
  };
}

/** One model, of the providers given. */
export function findModel(name: string, options: ModelRegistryOptions): Model {
  return modelRegistry(options).findModel(name);
}

type List = { readonly models: readonly string[] } & FallbackOptions;

function listOf(name: string, given: readonly string[] | List): List {
  const where = `modelRegistry: options.lists.${name}`;
  const list: List = Array.isArray(given) ? { models: given as readonly string[] } : (given as List);
  checkIs(list, where, object);
  const { models, ...how } = list;
  checkIs(models, `${where}.models`, someNames);
  checkFallback(how, where);
  return list;
}

const someNames: Check = {
  needs: 'a list of at least one name',
  fits: (value) => names.fits(value) && (value as string[]).length > 0,
};

type Source = ProviderConfig | ((name: string) => Model);

function choose(name: string, options: ModelRegistryOptions): { model: string; config: Source } | undefined {
  const slash = name.indexOf('/');
  if (slash > 0) {
    const prefix = name.slice(0, slash);
    const rest = name.slice(slash + 1);
    const own = options.providers;
    if (own && Object.hasOwn(own, prefix) && own[prefix]) return { model: rest, config: own[prefix] };
    const known = providerOfPrefix(prefix);
    const config = known && configOf(known, options);
    if (config && rest !== '') return { model: rest, config };
  }
  const owner = providerOfName(name);
  const config = (owner && configOf(owner, options)) ?? (name === '' ? undefined : options.fallback);
  return config && { model: name, config };
}

/** Whoever asks for it by the name that it was found under means the provider's name of it. */
function knownAs(name: string, model: Model): Model {
  if (name === model.name) return model;
  return {
    ...model,
    generate: (request, call) =>
      model.generate(request.model === name ? { ...request, model: model.name } : request, call),
  };
}

/** A price is also found under the name that a model is asked for by the provider. */
function withPrices(
  config: ProviderConfig,
  common: PriceTable | undefined,
  name: string,
  model: string,
): ProviderConfig {
  if (!common) return config;
  const price = Object.hasOwn(common, name) ? common[name] : undefined;
  return { ...config, prices: { ...common, ...(price ? { [model]: price } : {}), ...config.prices } };
}

function setUp(options: ModelRegistryOptions): string {
  const { providers = {}, lists = {}, fallback } = options;
  const known = [
    ...Object.keys(lists),
    ...providerNames.flatMap((name) => (options[name] ? [PROVIDERS[name].shown] : [])),
    ...Object.keys(providers).map((prefix) => `${prefix}/…`),
    ...(fallback ? ['anything else'] : []),
  ];
  return known.length === 0 ? 'none is' : `known are ${known.join(', ')}`;
}
