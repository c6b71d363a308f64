import type { AgentContext } from '../agent/index.ts';

/**
 * Takes the words that wait for this agent, so that nobody else does before the log says so; their ids.
 */
export function takeSteers(context: AgentContext): string[] {
  const ids = steersFor(context);
  for (const id of ids) context.invocation.takenSteers.add(id);
  return ids;
}

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
    if (turnId !== turn?.id || invocation.takenSteers.has(id)) continue;
    const isFor = thread === undefined ? iso === '' : place.thread === thread || place.thread?.startsWith(`${thread}.`);
    if (isFor) ids.push(id);
  }
  return ids;
}

const none: string[] = [];
