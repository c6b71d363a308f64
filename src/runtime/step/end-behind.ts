import type { AgentContext } from '../agent/index.ts';
import type { HookChain } from '../hooks/index.ts';
import type { StoredEvent } from '../log/index.ts';
import type { ModelUser } from './model-user.ts';

const rootSlot = /^(?:~[^/~]+)?$/;

/**
 * The end of the turn, to be stored with the answer that comes before it: nothing else can happen between the two.
 * Undefined: something may.
 */
export function endBehind(
  context: AgentContext,
  agent: ModelUser,
  hooks: HookChain,
  answer: StoredEvent,
): StoredEvent | undefined {
  const { invocation, place, path, signal } = context;
  // Whoever runs an agent of its own in the root slot may go on after it.
  const isLast = context.agent === agent && rootSlot.test(path) && place.iso.length === 0;
  if (!isLast || signal.aborted || hooks.has('afterAgent') || agent.outputSchema) return undefined;
  if (answer.content?.parts.some(({ type }) => type === 'function_call')) return undefined;
  return invocation.endBehind(answer);
}
