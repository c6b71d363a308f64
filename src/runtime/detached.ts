import type { CallState } from './call-state.ts';
import { AgentContext } from './context.ts';
import { threadOf } from './event.ts';
import type { Invocation } from './invocation.ts';
import { settleCalls } from './scheduler.ts';
import { isToolUser } from './tool-user.ts';

/**
 * Calls of earlier turns that were left open (`whilePending: 'proceed'`) and have been answered since: each runs
 * once, outside the present turn's tree.
 */
export async function runDetachedCalls(invocation: Invocation): Promise<void> {
  const { fold, tree } = invocation;
  const byPlace = new Map<string, CallState[]>();
  for (const call of fold.open.values()) {
    if (call.turnId === fold.turn?.id || call.interim || !isAnswered(call)) continue;
    const place = `${call.author} ${threadOf(call) ?? ''}`;
    const calls = byPlace.get(place);
    if (calls) calls.push(call);
    else byPlace.set(place, [call]);
  }
  for (const calls of byPlace.values()) {
    const [call] = calls as [CallState];
    const { author, branch } = call;
    const agent = tree.find(author);
    if (!agent || !isToolUser(agent)) continue;
    const place = {
      path: '',
      branch,
      iso: [],
      thread: threadOf(call),
      agentPath: tree.pathOf(agent).slice(0, -1),
      tree,
      signal: invocation.signal,
    };
    const context = new AgentContext(invocation, agent, place);
    await settleCalls(context, calls, await agent.resolveTools(context), agent.hooks(context));
  }
}

function isAnswered(call: CallState): boolean {
  return call.asks.at(-1)?.answer !== undefined || call.decision?.outcome === 'approved';
}
