import type { AnyAgentTool } from '../../contracts/index.ts';
import { defineAgentTool } from '../../contracts/index.ts';
import type { Agent, AgentTree } from '../agent/index.ts';
import type { Fold } from '../log/index.ts';

/** What an LlmAgent says about being left and returned to. */
export interface TransferRules {
  readonly disallowTransferToParent: boolean;
  readonly disallowTransferToPeers: boolean;
  /** Those that it is confined to. */
  readonly transferTargets?: readonly string[] | undefined;
  /** Marks agents that a conversation can rest at: LLM agents. */
  readonly isConversational: true;
}

export function isConversational(agent: Agent | undefined): agent is Agent & TransferRules {
  return agent !== undefined && 'isConversational' in agent;
}

/** Whom an agent may hand over to: its sub-agents; parent and peers where the parent is an LLM agent too. */
export function transferTargets(tree: AgentTree, agent: Agent & TransferRules): Agent[] {
  const targets = [...agent.subAgents];
  const parent = tree.parent(agent);
  if (isConversational(parent)) {
    if (!agent.disallowTransferToParent) targets.push(parent);
    if (!agent.disallowTransferToPeers) targets.push(...parent.subAgents.filter((peer) => peer !== agent));
  }
  const { transferTargets: only } = agent;
  return only ? targets.filter(({ name }) => only.includes(name)) : targets;
}

/**
 * Who takes the next message: whoever spoke last in the root slot, if it and all above it are LLM agents that allow
 * the way back; else the root.
 */
export function startingAgent(tree: AgentTree, fold: Fold): Agent {
  const last = fold.occupant === undefined ? undefined : tree.find(fold.occupant);
  for (let agent = last; agent && agent !== tree.root; agent = tree.parent(agent)) {
    if (!isConversational(agent) || agent.disallowTransferToParent) return tree.root;
  }
  return isConversational(tree.root) && last ? last : tree.root;
}

export const TRANSFER_TOOL = 'transfer_to_agent';

/** The tool by which a model hands over; its schema lists the allowed names. */
export function transferTool(targets: readonly Agent[]): AnyAgentTool {
  return defineAgentTool({
    name: TRANSFER_TOOL,
    description: 'Hands the conversation over to another agent, which answers from here on.',
    inputSchema: {
      type: 'object',
      properties: { agent_name: { type: 'string', enum: targets.map((target) => target.name) } },
      required: ['agent_name'],
    },
    kind: 'other',
    annotations: { idempotent: true },
    execute({ agent_name }, context) {
      context.transferTo(String(agent_name));
      return { transferred_to: agent_name };
    },
  });
}
