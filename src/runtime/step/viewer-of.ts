import type { AgentContext } from '../agent/index.ts';
import type { Viewer } from '../history/index.ts';

/** Whose history an agent is shown at its place. */
export function viewerOf(
  { branch, iso, invocation }: AgentContext,
  agent: { readonly name: string; readonly includeContents: 'default' | 'none' },
): Viewer {
  const { turn } = invocation.fold;
  // An agent run as a tool has no other turn than its call, which may outlive that of its caller.
  const from = agent.includeContents === 'none' && iso === '' && turn ? { from: turn.seq } : {};
  return { agent: agent.name, branch, iso, ...from };
}
