import type { AgentConstraints, AgentDescriptor, Capability, CompositionConfig } from '../../contracts/index.ts';
import type { Agent, ResolvedTool } from '../agent/index.ts';
import { isHostRun, isToolUser } from '../agent/index.ts';
import { LlmAgent, LoopAgent, ParallelAgent, SequentialAgent } from '../agents/index.ts';

export interface DescribeOptions {
  version?: string;
  /** Factory key of whoever runs it. Default `adk`. */
  executor?: string;
  /** What an executor of another framework knows better. */
  describe?: (own: AgentDescriptor) => AgentDescriptor;
  constraints?: AgentConstraints;
  metadata?: Record<string, unknown>;
}

/** What an agent is, for a host. Instruction, model, callbacks and output key stay inside. */
export function describeAgent(agent: Agent, options: DescribeOptions = {}): AgentDescriptor {
  const llm = agent instanceof LlmAgent ? agent : undefined;
  const composition = compositionOf(agent);
  const tools = [...(ownToolsOf(agent)?.values() ?? [])];
  const constraints = { ...options.constraints, ...transferConstraints(llm) };
  const metadata = { ...options.metadata, ...(options.version === undefined ? {} : { version: options.version }) };
  const own: AgentDescriptor = {
    name: agent.name,
    description: agent.description,
    executor: options.executor ?? 'adk',
    ...(llm?.inputSchema ? { inputSchema: llm.inputSchema } : {}),
    ...(llm?.outputSchema ? { outputSchema: llm.outputSchema } : {}),
    capabilities: capabilitiesOf(agent),
    ownTools: tools.filter((tool) => !isHostRun(tool)).map((tool) => tool.descriptor),
    requiredTools: tools.filter(isHostRun).map((tool) => tool.descriptor.name),
    subAgents: agent.subAgents.map((child) => describeAgent(child)),
    ...(composition ? { composition } : {}),
    ...(Object.keys(constraints).length > 0 ? { constraints } : {}),
    ...(Object.keys(metadata).length > 0 ? { metadata } : {}),
  };
  return options.describe?.(own) ?? own;
}

const sessionCapabilities: readonly Capability[] = ['steer', 'update', 'resume', 'fork'];

function capabilitiesOf(agent: Agent): Capability[] {
  const ofSession = waitsInMemory(agent)
    ? sessionCapabilities.filter((name) => name !== 'resume')
    : sessionCapabilities;
  if (ownToolsOf(agent)) return ['elicitation', 'streaming', 'host_tool_execution', ...ofSession];
  if (compositionOf(agent)) return ['composition', ...ofSession];
  return [...ofSession];
}

function ownToolsOf(agent: Agent): ReadonlyMap<string, ResolvedTool> | undefined {
  return isToolUser(agent) ? agent.tools : undefined;
}

/** Also as a tool of an agent of the tree. */
function waitsInMemory(agent: Agent): boolean {
  if (agent.heldInMemory) return true;
  const asTools = [...(ownToolsOf(agent)?.values() ?? [])].flatMap(({ agentTree }) =>
    agentTree ? agentTree.root : [],
  );
  return [...agent.subAgents, ...asTools].some(waitsInMemory);
}

function compositionOf(agent: Agent): CompositionConfig | undefined {
  const children = agent.subAgents.map((child) => child.name);
  if (agent instanceof SequentialAgent) return { pattern: 'sequential', children };
  if (agent instanceof ParallelAgent) return { pattern: 'parallel', children };
  if (agent instanceof LoopAgent) return { pattern: 'loop', children, maxIterations: agent.maxIterations };
  if (agent instanceof LlmAgent && children.length > 0) {
    const { transferTargets } = agent;
    return { pattern: 'transfer', children, ...(transferTargets ? { transferTargets: [...transferTargets] } : {}) };
  }
  return undefined;
}

function transferConstraints(agent: LlmAgent | undefined): AgentConstraints {
  const meta: Record<string, unknown> = {};
  if (agent?.disallowTransferToParent) meta.disallowTransferToParent = true;
  if (agent?.disallowTransferToPeers) meta.disallowTransferToPeers = true;
  return Object.keys(meta).length > 0 ? { _meta: meta } : {};
}
