import type { Content, ContentPart, JsonSchema } from '../../contracts/index.ts';
import { textOfParts } from '../../contracts/index.ts';
import type { HookChain } from '../hooks/index.ts';
import { CallbackContext, failClosed, hookContent } from '../hooks/index.ts';
import type { EventActions, Outcome, StateView } from '../log/index.ts';
import { DONE } from '../log/index.ts';
import type { AgentContext } from './agent.ts';
import { outputValue } from './promised-output.ts';

/**
 * Runs the before_agent hooks, once for each activation. An outcome: a hook has given the answer, the agent does not
 * run.
 */
export function startAgent(
  context: AgentContext,
  hooks: HookChain,
): Outcome | undefined | Promise<Outcome | undefined> {
  if (context.activation.replaced) return DONE;
  if (!hooks.has('beforeAgent') || context.invocation.haveHooksRun(context.path, 'entered')) return undefined;
  return beforeAgent(context, hooks);
}

async function beforeAgent(context: AgentContext, hooks: HookChain): Promise<Outcome | undefined> {
  const callback = new CallbackContext(context);
  const given = await failClosed('before_agent', context.signal, () => hooks.first('beforeAgent', callback));
  const content = given && hookContent(given, 'model', 'before_agent');
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
export function finishAgent(context: AgentContext, hooks: HookChain, outcome: Outcome): Outcome | Promise<Outcome> {
  if (!hooks.has('afterAgent') || context.invocation.haveHooksRun(context.path, 'exited')) return outcome;
  return afterAgent(context, hooks, outcome);
}

async function afterAgent(context: AgentContext, hooks: HookChain, outcome: Outcome): Promise<Outcome> {
  const callback = new CallbackContext(context);
  let content: Content | undefined;
  try {
    const given = await hooks.first('afterAgent', callback);
    content = given && hookContent(given, 'model', 'after_agent');
  } catch (error) {
    if (context.signal.aborted) throw error;
    context.invocation.engine.warn(`an after_agent hook of ${context.agent.name} failed`, error);
  }
  const ran = { exited: [context.path], stateDelta: callback.delta };
  if (content) await answer(context, content, { ...ran, hook: 'after' });
  else if (Object.keys(callback.delta).length > 0) await context.emit({ actions: ran });
  else context.invocation.hooksRan(context.path, 'exited');
  return outcome;
}

/** A hook's words are the agent's answer, as if it had given it. */
function answer(
  context: AgentContext,
  content: Content,
  actions: Partial<EventActions> & Pick<EventActions, 'stateDelta'>,
): Promise<void> {
  const { outputKey, outputSchema } = context.agent as { outputKey?: string; outputSchema?: JsonSchema };
  const stateDelta = withOutput(outputKey, actions.stateDelta, content.parts, (text) =>
    outputValue(outputSchema, text),
  );
  return context.emit({ content, actions: { ...actions, stateDelta } });
}

/**
 * With what the text of a final answer stands for under the agent's output key, thoughts left out. An answer that says
 * nothing, calls tools, or stands for nothing (undefined) leaves the key alone.
 */
export function withOutput(
  outputKey: string | undefined,
  delta: Record<string, unknown>,
  parts: readonly ContentPart[],
  readAs: (text: string) => unknown,
): Record<string, unknown> {
  if (outputKey === undefined || parts.some((part) => part.type === 'function_call')) return delta;
  const text = textOfParts(parts);
  const value = text === '' ? undefined : readAs(text);
  return value === undefined ? delta : { ...delta, [outputKey]: value };
}

/** What a hook wrote: state, and artifacts where its context has them (file name → version). */
interface HookWrites {
  readonly state: StateView;
  readonly artifactDelta?: Record<string, number>;
}

/** State that a hook wrote and artifacts that it saved stand in the log, whatever it returned. */
export async function keepWrites(
  context: AgentContext,
  { state: { delta: stateDelta }, artifactDelta = {} }: HookWrites,
): Promise<void> {
  const actions = {
    ...(Object.keys(stateDelta).length > 0 ? { stateDelta } : {}),
    ...(Object.keys(artifactDelta).length > 0 ? { artifactDelta } : {}),
  };
  if (Object.keys(actions).length > 0) await context.emit({ actions });
}
