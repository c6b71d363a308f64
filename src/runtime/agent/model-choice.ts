import { CoxswainError } from '../../contracts/index.ts';
import type { Model } from '../model/index.ts';
import type { Agent, AgentContext } from './agent.ts';

type WithModel = Agent & { readonly model?: Model | string | undefined };

/** An agent's own model, its nearest ancestor's, or that of whoever runs it as a tool. */
export function inheritedModel(context: AgentContext): Model | string | undefined {
  const { tree, model } = context.place;
  for (let at: Agent | undefined = context.agent; at; at = tree.parent(at)) {
    const own = (at as WithModel).model;
    if (own !== undefined) return own;
  }
  return model ?? (context.invocation.tree.root as WithModel).model;
}

interface Choice {
  wanted: Model | string | undefined;
  /** Its own or inherited. */
  own: Model | string | undefined;
  overridden: boolean;
}

function choiceOf(context: AgentContext, agent: WithModel): Choice {
  const { options, fold, tree } = context.invocation;
  const override = fold.config.model ?? options.model;
  const isRoot = agent === tree.root;
  const own = inheritedModel(context);
  const overridden = override !== undefined && (isRoot || agent.model === undefined);
  return { wanted: overridden ? override : own, own, overridden };
}

/** Name of the model that will be asked; '' if there is none. */
export function modelNameOf(context: AgentContext, agent: WithModel): string {
  const { wanted } = choiceOf(context, agent);
  return typeof wanted === 'object' ? wanted.name : (wanted ?? '');
}

/**
 * The model that is asked, and what it is called. `instead`: the name that a hook has given in its place.
 * @throws CoxswainError `FAILED_PRECONDITION / E_NO_MODEL`
 */
export function modelOf(context: AgentContext, agent: WithModel, instead?: string): { model: Model; name: string } {
  const { engine } = context.invocation;
  const choice = choiceOf(context, agent);
  const { wanted, own, overridden } = instead === undefined ? choice : { ...choice, wanted: instead, overridden: true };
  if (typeof wanted === 'object') return { model: wanted, name: wanted.name };
  const found = wanted === undefined ? undefined : engine.models?.(wanted);
  if (found && wanted !== undefined) return { model: found, name: wanted };
  // No registry knows the name: the agent's model object may serve several.
  if (overridden && typeof own === 'object' && wanted !== undefined) return { model: own, name: wanted };
  throw new CoxswainError(
    'FAILED_PRECONDITION',
    'E_NO_MODEL',
    wanted === undefined
      ? `agent ${agent.name} has no model; give it one, or name one for the run`
      : `agent ${agent.name} wants model ${wanted}, which is not known here`,
  );
}
