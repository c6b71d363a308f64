import type { Model } from '../../runtime/index.ts';
import { bag, checkIs, text } from '../../session/index.ts';
import type { Provider } from './provider-kinds.ts';
import { configOf, PROVIDERS, providerNames } from './provider-kinds.ts';
import type { ModelRegistry, ModelRegistryOptions } from './registry.ts';
import { modelRegistry } from './registry.ts';

export type Env = Readonly<Record<string, string | undefined>>;

export interface ModelFromEnv {
  /** Absent where nothing is set up. */
  model?: Model;
  name?: string;
  /** Everything that the environment gives keys for. */
  registry: ModelRegistry;
  /** Why it is that one, or none; names variables, never their values. */
  why: string;
}

/** Variables that keys are read from. */
export const MODEL_KEYS: readonly string[] = providerNames.flatMap((name) => PROVIDERS[name].keys);

/**
 * The model that the environment asks for: `COXSWAIN_MODEL` or `wanted` by name, else the default one of the first
 * provider with a key.
 * @throws CoxswainError `NOT_FOUND / E_NO_MODEL` if a model is named that no key is there for
 * @example
 * ```ts
 * import { LlmAgent } from 'coxswain';
 * import { modelFromEnv } from 'coxswain/models';
 *
 * const { model, why } = modelFromEnv(process.env);
 * console.log(why);
 * if (model) new LlmAgent({ name: 'clerk', model });
 * ```
 */
export function modelFromEnv(env: Env, wanted?: string): ModelFromEnv {
  checkIs(env, 'modelFromEnv: env', bag);
  if (wanted !== undefined) checkIs(wanted, 'modelFromEnv: wanted', text);
  const options: ModelRegistryOptions = {};
  const found: { provider: Provider; variable: string }[] = [];
  for (const provider of providerNames) {
    const source = PROVIDERS[provider];
    const variable = source.keys.find((key) => env[key]?.trim());
    const baseUrl = env[source.baseUrl]?.trim();
    // Read from a file, a key often ends in a line end.
    const apiKey = variable === undefined ? undefined : env[variable]?.trim();
    if (variable === undefined && !baseUrl) continue;
    options[provider] = { ...(apiKey ? { apiKey } : {}), ...(baseUrl ? { baseUrl } : {}) };
    found.push({ provider, variable: variable ?? source.baseUrl });
    // A server of one's own serves what its owner calls it.
    const any = source.servesAny && baseUrl ? configOf(provider, options) : undefined;
    if (any) options.fallback = any;
  }
  const registry = modelRegistry(options);
  const name = (wanted ?? env.COXSWAIN_MODEL)?.trim();
  if (name) {
    const why = wanted === undefined ? 'COXSWAIN_MODEL names it' : 'it was asked for';
    return { model: registry.findModel(name), name, registry, why };
  }
  const [first] = found;
  if (!first) {
    return { registry, why: `none of ${MODEL_KEYS.join(', ')}, OPENAI_BASE_URL is set` };
  }
  const chosen = PROVIDERS[first.provider].model;
  return {
    model: registry.findModel(chosen),
    name: chosen,
    registry,
    why: `${first.variable} is set`,
  };
}
