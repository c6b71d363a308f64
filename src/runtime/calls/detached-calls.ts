import { questionState } from '../../gate/index.ts';
import type { Agent, Place, Run } from '../agent/index.ts';
import { AgentContext, isOwnCall, isToolUser } from '../agent/index.ts';
import type { CallState } from '../log/index.ts';
import { threadOf } from '../log/index.ts';
import { settleCalls } from './scheduler.ts';

/**
 * Calls of earlier turns that were left open (`whilePending: 'proceed'`) and have been answered since: each runs
 * once, outside the present turn's tree. One that runs an agent is entered again where that agent stands: what is open
 * within is the agent's to go on with.
 */
export async function runDetachedCalls(invocation: Run): Promise<void> {
  const { fold, tree } = invocation;
  const places = new Map<string, { agent: Agent; place: Place; calls: CallState[] }>();
  for (const call of fold.open.values()) {
    if (call.turnId === fold.turn?.id || call.iso !== undefined || call.interim) continue;
    if (!isOwnCall(tree, fold, call) || (!call.entered && !isAnswered(call))) continue;
    const key = `${call.author} ${call.path}`;
    const known = places.get(key);
    const agent = known?.agent ?? tree.find(call.author);
    if (known) known.calls.push(call);
    else if (agent) places.set(key, { agent, place: placeOf(invocation, agent, call), calls: [call] });
  }
  for (const { agent, place, calls } of places.values()) {
    if (!isToolUser(agent)) continue;
    const context = new AgentContext(invocation, agent, place);
    await settleCalls(context, calls, await agent.resolveTools(context), agent.hooks(context));
  }
}

function placeOf({ tree, signal, span }: Run, agent: Agent, call: CallState): Place {
  const { path, branch } = call;
  return {
    path,
    branch,
    iso: [],
    thread: threadOf(call),
    agentPath: tree.pathOf(agent).slice(0, -1),
    tree,
    signal,
    span,
  };
}

/**
 * A call that the agent runs was answered, or its question has run out of time, and nobody has acted upon that: once its
 * turn is over, only a new one can.
 */
export function hasUnheard({ fold, tree }: Pick<Run, 'fold' | 'tree'>): boolean {
  for (const call of fold.open.values()) {
    if (isUnheard(call) && isOwnCall(tree, fold, call) && tree.find(call.author)) return true;
  }
  return false;
}

/** Ids of the calls of the present turn of which that is so. */
export function unheardCalls({ fold, tree }: Pick<Run, 'fold' | 'tree'>): string[] {
  const { open, turn } = fold;
  if (!turn || !isOwnCall(tree, fold, { turnId: turn.id })) return [];
  return [...open.values()].filter((call) => call.turnId === turn.id && isUnheard(call)).map(({ id }) => id);
}

/** It was answered, or its question has run out of time, and its agent has not acted upon that. */
export function isUnheard({ asks, decision, interim, handledBy, started, entered }: CallState): boolean {
  if (interim !== undefined || handledBy === 'host') return false;
  const ask = asks.at(-1);
  if (ask) return questionState(ask) !== 'open';
  // An agent that is run as a tool has no start in the log: what was asked of it stands there instead.
  return decision?.outcome === 'approved' && !started && !entered;
}

function isAnswered({ asks, decision }: CallState): boolean {
  const ask = asks.at(-1);
  return (ask !== undefined && questionState(ask) !== 'open') || decision?.outcome === 'approved';
}
