import type { AgentSource } from '../../contracts/index.ts';
import { CoxswainError, isCoxswainError } from '../../contracts/index.ts';
import type { Agent, Model } from '../../runtime/index.ts';
import { usageError } from '../terminal/index.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** What an agent module says of models. */
export interface ModuleModels {
  readonly agent: Agent | AgentSource;
  readonly models?: (name: string) => Model | undefined;
}

/** What `--model` and the environment say. */
export interface ModelChoice {
  /** `--model`. */
  readonly wanted: string | undefined;
  /** The one that was asked for, or the environment's; undefined if there is none. @throws CoxswainError `E_NO_MODEL` */
  model(): Model | undefined;
  /** As the agent is told of it. */
  readonly name: string | undefined;
  /** Names variables, never their values. */
  readonly why: string;
  find(name: string): Model | undefined;
  /** @throws CoxswainError `NOT_FOUND / E_NO_MODEL`, which says what is missing */
  require(name: string): Model;
}

/** @throws CoxswainError `INVALID_ARGUMENT / E_USAGE` for an empty name */
export async function chooseModel(option: string | undefined, env: Env): Promise<ModelChoice> {
  const wanted = option?.trim();
  if (wanted === '') throw usageError('--model: give a name, such as claude-sonnet-5 or provider/name');
  const { keyOfModel, MODEL_KEYS, modelFromEnv } = await import('../../adapters/models/index.ts');
  const { COXSWAIN_MODEL: said, ...keys } = env;
  const named = said?.trim();
  const byKey = modelFromEnv(keys);
  const name = wanted ?? (named || byKey.name);
  const why = named ? 'COXSWAIN_MODEL names it' : byKey.why;
  const { registry } = byKey;
  const require = (asked: string) => {
    try {
      return registry.findModel(asked);
    } catch (error) {
      if (!isCoxswainError(error) || error.code !== 'E_NO_MODEL') throw error;
      const own = 'OPENAI_BASE_URL for a server of your own';
      const key = keyOfModel(asked);
      const missing = `model ${asked} needs ${key}, which is not set; set it, name another model, or set ${own}`;
      const keys = `${error.message}. Check the name, or set the key of its provider (${MODEL_KEYS.join(', ')}), or ${own}`;
      throw new CoxswainError('NOT_FOUND', 'E_NO_MODEL', key === undefined ? keys : missing);
    }
  };
  return {
    wanted,
    name,
    why: wanted === undefined ? why : '--model names it',
    find: registry.models,
    require,
    // What only the module knows is found there, later.
    model: () => (name === undefined ? undefined : wanted === undefined ? require(name) : registry.models(name)),
  };
}

/** Which model the turns of a module's agent name, and what a person should know of it. */
export interface ModelUse {
  name?: string;
  note?: string;
}

/**
 * `--model` goes before everything; the environment's model is for agents that take it from their context or have none.
 * @throws CoxswainError `NOT_FOUND / E_NO_MODEL`
 */
export function modelUse({ agent, models }: ModuleModels, choice: ModelChoice): ModelUse {
  const { wanted, name, why } = choice;
  const isForeign = !('run' in agent);
  if (wanted !== undefined) {
    // Another program's agent knows its own models.
    if (!isForeign && !models?.(wanted)) choice.require(wanted);
    return { name: wanted, note: `model ${wanted}: ${why}` };
  }
  if (isForeign) return {};
  const own = (agent as Agent & { model?: Model | string }).model;
  if (own !== undefined) {
    const isTaken = typeof own === 'object' && own.name === name && own === choice.model();
    return isTaken ? { note: `model ${own.name}: ${why}` } : {};
  }
  if (!needsModel(agent)) return {};
  if (name === undefined) return { note: `no model: ${why}, nor is --model given` };
  choice.require(name);
  return { name, note: `model ${name}: ${why}` };
}

/** Some agent of the tree asks a model, and none says which. */
function needsModel(agent: Agent & { model?: Model | string; processors?: unknown }): boolean {
  if (agent.model !== undefined) return false;
  return 'processors' in agent || agent.subAgents.some(needsModel);
}
