import type { Content } from '../contracts/index.ts';
import { CoxswainError, isCoxswainError, messageOf } from '../contracts/index.ts';
import { CallbackContext } from './callback-context.ts';
import type { AgentContext } from './context.ts';
import type { Outcome } from './outcome.ts';
import { DONE } from './outcome.ts';
import type { HookChain } from './plugin.ts';

/**
 * Runs the before_agent hooks, once for each activation. An outcome: a hook has given the answer, the agent does not
 * run.
 */
export async function startAgent(context: AgentContext, hooks: HookChain): Promise<Outcome | undefined> {
  if (!hooks.has('beforeAgent') || context.invocation.haveHooksRun(context.path, 'entered')) return undefined;
  const callback = new CallbackContext(context);
  const content = await failClosed('before_agent', () => hooks.first('beforeAgent', callback));
  context.invocation.hooksRan(context.path, 'entered');
  if (!content) {
    if (Object.keys(callback.delta).length > 0) await context.emit({ actions: { stateDelta: callback.delta } });
    return undefined;
  }
  await context.emit({ content: asModel(content), actions: { stateDelta: callback.delta } });
  return DONE;
}

/** Runs the after_agent hooks, once for each activation; a replacement becomes one more event: the output. */
export async function finishAgent(context: AgentContext, hooks: HookChain, outcome: Outcome): Promise<Outcome> {
  if (!hooks.has('afterAgent') || context.invocation.haveHooksRun(context.path, 'exited')) return outcome;
  const callback = new CallbackContext(context);
  let content: Content | undefined;
  try {
    content = await hooks.first('afterAgent', callback);
  } catch (error) {
    context.invocation.engine.warn(`an after_agent hook of ${context.agent.name} failed`, error);
  }
  context.invocation.hooksRan(context.path, 'exited');
  if (content) await context.emit({ content: asModel(content), actions: { stateDelta: callback.delta } });
  else if (Object.keys(callback.delta).length > 0) await context.emit({ actions: { stateDelta: callback.delta } });
  return outcome;
}

/** A before_* hook must not be skipped by failing. */
export async function failClosed<T>(point: string, hook: () => Promise<T>): Promise<T> {
  try {
    return await hook();
  } catch (error) {
    if (isCoxswainError(error)) throw error;
    throw new CoxswainError('INTERNAL', 'E_HOOK_FAILED', `a ${point} hook failed: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

function asModel(content: Content): Content {
  return { role: 'model', parts: content.parts };
}
