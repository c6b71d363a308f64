import type { Content, ContentPart, JsonSchema } from '../contracts/index.ts';
import { CoxswainError, copyJson, isCoxswainError, messageOf, textOfParts } from '../contracts/index.ts';
import { CallbackContext } from './callback-context.ts';
import type { AgentContext } from './context.ts';
import type { EventActions } from './event.ts';
import type { Outcome } from './outcome.ts';
import { DONE } from './outcome.ts';
import { outputValue } from './output.ts';
import type { HookChain } from './plugin.ts';
import type { StateView } from './state.ts';

/**
 * Runs the before_agent hooks, once for each activation. An outcome: a hook has given the answer, the agent does not
 * run.
 */
export async function startAgent(context: AgentContext, hooks: HookChain): Promise<Outcome | undefined> {
  if (context.activation.replaced) return DONE;
  if (!hooks.has('beforeAgent') || context.invocation.haveHooksRun(context.path, 'entered')) return undefined;
  const callback = new CallbackContext(context);
  const content = await failClosed('before_agent', () => hooks.first('beforeAgent', callback));
  const ran = { entered: [context.path], stateDelta: callback.delta };
  if (content) {
    await answer(context, content, { ...ran, hook: 'before' });
    return DONE;
  }
  if (Object.keys(callback.delta).length > 0) await context.emit({ actions: ran });
  else context.invocation.hooksRan(context.path, 'entered');
  return undefined;
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
  const ran = { exited: [context.path], stateDelta: callback.delta };
  if (content) await answer(context, content, { ...ran, hook: 'after' });
  else if (Object.keys(callback.delta).length > 0) await context.emit({ actions: ran });
  else context.invocation.hooksRan(context.path, 'exited');
  return outcome;
}

/** A before_* hook must not be skipped by failing. */
export async function failClosed<T>(point: string, hook: () => T | Promise<T>): Promise<T> {
  try {
    return await hook();
  } catch (error) {
    if (isCoxswainError(error)) throw error;
    throw new CoxswainError('INTERNAL', 'E_HOOK_FAILED', `a ${point} hook failed: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/** A hook's words are the agent's answer, as if it had given it. */
function answer(
  context: AgentContext,
  given: Content,
  actions: Partial<EventActions> & Pick<EventActions, 'stateDelta'>,
): Promise<void> {
  const content = asModel(given);
  const { outputKey, outputSchema } = context.agent as { outputKey?: string; outputSchema?: JsonSchema };
  const stateDelta = withOutput(outputKey, actions.stateDelta, content.parts, outputSchema);
  return context.emit({ content, actions: { ...actions, stateDelta } });
}

/** A hook's content, as the agent's own. */
export function asModel(content: Content): Content {
  return { role: 'model', parts: copyJson(content.parts, "a hook's content") };
}

/**
 * With the text of a final answer under the agent's output key, thoughts left out; with an output schema, the value. An
 * answer that says nothing, or calls tools, leaves the key alone.
 */
export function withOutput(
  outputKey: string | undefined,
  delta: Record<string, unknown>,
  parts: readonly ContentPart[],
  schema?: JsonSchema,
): Record<string, unknown> {
  if (outputKey === undefined || parts.some((part) => part.type === 'function_call')) return delta;
  const text = textOfParts(parts);
  return text === '' ? delta : { ...delta, [outputKey]: outputValue(schema, text) };
}

/** State that a hook wrote is kept, whatever it returned. */
export async function keepWrites(context: AgentContext, { state }: { readonly state: StateView }): Promise<void> {
  if (Object.keys(state.delta).length > 0) await context.emit({ actions: { stateDelta: state.delta } });
}
