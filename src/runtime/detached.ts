import type { CallState } from './call-state.ts';
import { AgentContext } from './context.ts';
import type { Invocation } from './invocation.ts';
import { settleCalls } from './scheduler.ts';
import { isToolUser } from './tool-user.ts';

/**
 * Calls of earlier turns that were left open (`whilePending: 'proceed'`) and have been answered since: each runs
 * once, outside the present turn's tree.
 */
export async function runDetachedCalls(invocation: Invocation): Promise<void> {
  const { fold, tree } = invocation;
  const byAuthor = new Map<string, CallState[]>();
  for (const call of fold.open.values()) {
    if (call.turnId === fold.turn?.id || call.interim || !isAnswered(call)) continue;
    const calls = byAuthor.get(call.author);
    if (calls) calls.push(call);
    else byAuthor.set(call.author, [call]);
  }
  for (const [author, calls] of byAuthor) {
    const agent = tree.find(author);
    if (!agent || !isToolUser(agent)) continue;
    const place = { path: '', iso: [], agentPath: tree.pathOf(agent).slice(0, -1), tree, signal: invocation.signal };
    const context = new AgentContext(invocation, agent, place);
    await settleCalls(context, calls, await agent.resolveTools(context), agent.hooks(context));
  }
}

function isAnswered(call: CallState): boolean {
  return call.asks.at(-1)?.answer !== undefined || call.decision?.outcome === 'approved';
}
