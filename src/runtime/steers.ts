import type { AgentContext } from './context.ts';

/**
 * Ids of the words that wait for this agent: those for a thread are for whoever is shown in it, or in a branch of it;
 * those for none are for whoever comes to a step first, agents run as tools left out.
 */
export function steersFor({ place, iso, invocation }: AgentContext): string[] {
  const { steers, turn } = invocation.fold;
  if (steers.size === 0) return none;
  const ids: string[] = [];
  for (const [id, { thread, turnId }] of steers) {
    // Too late for this turn: the next one begins with them.
    if (turnId !== turn?.id) continue;
    const isFor = thread === undefined ? iso === '' : place.thread === thread || place.thread?.startsWith(`${thread}.`);
    if (isFor) ids.push(id);
  }
  return ids;
}

const none: string[] = [];
