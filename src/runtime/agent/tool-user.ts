import type { HookChain } from '../hooks/index.ts';
import type { Agent, AgentContext } from './agent.ts';
import type { ResolvedTool, ToolMap } from './tools.ts';

/** An agent that can be asked for its tools and hooks. */
export interface ToolUser extends Agent {
  /** Own tools by name, toolsets excluded. */
  readonly tools: ReadonlyMap<string, ResolvedTool>;
  /** A promise where it waits for any of them. */
  resolveTools(context: AgentContext): ToolMap | Promise<ToolMap>;
  hooks(context: AgentContext): HookChain;
}

export function isToolUser(agent: Agent): agent is ToolUser {
  return 'resolveTools' in agent;
}
