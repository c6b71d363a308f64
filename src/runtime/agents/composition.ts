import type { Shape } from '../../base/index.ts';
import {
  amount,
  anything,
  bag,
  checkIs,
  checkShape,
  fn,
  kindOf,
  list,
  name,
  names,
  object,
  required,
  text,
} from '../../base/index.ts';
import type { AgentDescriptor, CompositionConfig } from '../../contracts/index.ts';
import { CoxswainError } from '../../contracts/index.ts';
import type { Agent } from '../agent/index.ts';
import { AgentTree, assertAgentName } from '../agent/index.ts';
import { agentTool } from './agent-tool.ts';
import { LoopAgent, ParallelAgent, SequentialAgent } from './composite-agents.ts';
import { LlmAgent } from './llm-agent.ts';
import type { LlmAgentOptions } from './options.ts';

/** A node of a composition: what a descriptor says of it, and no more than is needed to build it. */
export type CompositionNode = Pick<AgentDescriptor, 'name'> &
  Partial<Pick<AgentDescriptor, 'description' | 'inputSchema' | 'outputSchema'>> & {
    subAgents?: readonly CompositionNode[];
    composition?: CompositionConfig | undefined;
  };

/** What an LLM agent is made of besides its place: model, instruction, tools. */
export type AgentParts = Omit<LlmAgentOptions, 'name' | 'description' | 'subAgents'>;

/**
 * What a node without children is: an agent as it is, or the parts of an LLM agent. For the node above a `transfer` or
 * `hierarchical` composition: the parts of the agent that hands over or asks.
 */
export type PartsOf = (node: CompositionNode) => Agent | AgentParts;

/**
 * The runtime's agents for a composition: `sequential`, `parallel` and `loop` run their children; under `transfer` a
 * coordinator hands over to them; under `hierarchical` it asks them as tools. Only what `children` names takes part, in
 * that order.
 * @throws CoxswainError `INVALID_ARGUMENT / E_COMPOSITION | E_DUPLICATE_AGENT | E_LOOP_UNBOUNDED`, `NOT_FOUND /
 *   E_AGENT_UNKNOWN | E_TRANSFER`, each naming the path
 */
export function composeAgent(node: CompositionNode, parts: PartsOf): Agent {
  checkIs(parts, 'composeAgent: parts', fn);
  checkNode(node, 'composeAgent: node');
  const agent = build(node, parts, node.name);
  const tree = AgentTree.of(agent);
  return tree.root;
}

// Values of numbers and patterns are told with their path.
const composition: Shape<CompositionConfig> = {
  pattern: required(name),
  children: required(names),
  maxIterations: anything,
  transferTargets: names,
  maxDepth: amount,
};
const shape: Shape<CompositionNode> = {
  name: required(anything),
  description: text,
  inputSchema: object,
  outputSchema: object,
  subAgents: list,
  composition: object,
};

/** @throws CoxswainError `INVALID_ARGUMENT / E_BAD_INPUT` */
function checkNode(node: CompositionNode, where: string, above: readonly CompositionNode[] = []): void {
  if (above.includes(node)) {
    throw fault(pathOf([...above, node]), 'it stands within itself; composed agents have an end');
  }
  checkShape<CompositionNode>(node, where, shape);
  assertAgentName(node.name);
  if (node.composition) checkShape<CompositionConfig>(node.composition, `${where}.composition`, composition);
  const names = new Set<string>();
  for (const [index, child] of (node.subAgents ?? []).entries()) {
    checkNode(child, `${where}.subAgents[${index}]`, [...above, node]);
    if (names.has(child.name)) {
      const twice = pathOf([...above, node, child]);
      const message = `composition at ${pathOf([...above, node])}: two sub-agents are called ${twice}; names are unique`;
      throw new CoxswainError('INVALID_ARGUMENT', 'E_DUPLICATE_AGENT', message);
    }
    names.add(child.name);
  }
}

function pathOf(nodes: readonly CompositionNode[]): string {
  return nodes.map(({ name }) => name).join('/');
}

function build(node: CompositionNode, parts: PartsOf, path: string): Agent {
  const { composition } = node;
  if (!composition) return alone(node, parts(node), path);
  const children = childrenOf(node, composition, path).map((child) => build(child, parts, `${path}/${child.name}`));
  checkDepth(node, composition, path);
  const named = { name: node.name, description: node.description ?? '', subAgents: children };
  switch (composition.pattern) {
    case 'sequential':
      return new SequentialAgent(named);
    case 'parallel':
      return new ParallelAgent(named);
    case 'loop': {
      const { maxIterations } = composition;
      return new LoopAgent({ ...named, ...(maxIterations === undefined ? {} : { maxIterations }) });
    }
    case 'transfer': {
      const { transferTargets } = composition;
      const own = partsOnly(node, parts(node), path);
      return leaf(node, { ...own, ...(transferTargets ? { transferTargets } : {}) }, children, path);
    }
    case 'hierarchical': {
      const own = partsOnly(node, parts(node), path);
      return leaf(
        node,
        { ...own, tools: [...(own.tools ?? []), ...children.map((child) => agentTool(child))] },
        [],
        path,
      );
    }
    default:
      throw fault(
        path,
        `pattern ${typeof composition.pattern === 'string' ? JSON.stringify(composition.pattern) : kindOf(composition.pattern)} is none of ${patterns.join(', ')}`,
      );
  }
}

const patterns = ['sequential', 'parallel', 'loop', 'transfer', 'hierarchical'];

/** A whole agent has its sub-agents itself. */
function alone(node: CompositionNode, given: Agent | AgentParts, path: string): Agent {
  const names = (node.subAgents ?? []).map(({ name }) => name);
  if (names.length === 0 || isAgent(given)) return leaf(node, given, [], path);
  throw fault(path, `it has sub-agents (${names.join(', ')}) and no composition that says how they work together`);
}

function leaf(node: CompositionNode, given: Agent | AgentParts, subAgents: readonly Agent[], path: string): Agent {
  if (isAgent(given)) {
    if (given.name === node.name) return given;
    throw fault(path, `the agent for it is named ${given.name}`);
  }
  const { name, description, inputSchema, outputSchema } = node;
  return new LlmAgent({
    name,
    ...(description === undefined ? {} : { description }),
    ...(inputSchema ? { inputSchema } : {}),
    ...(outputSchema ? { outputSchema } : {}),
    ...given,
    subAgents,
  });
}

function partsOnly(node: CompositionNode, given: Agent | AgentParts, path: string): AgentParts {
  if (!isAgent(given)) return given;
  throw fault(path, `${node.composition?.pattern} needs the parts of an LLM agent, and got a whole agent`);
}

function isAgent(given: Agent | AgentParts): given is Agent {
  checkIs(given, 'composeAgent: what parts() gave', bag);
  return 'run' in given && typeof given.run === 'function';
}

function childrenOf(node: CompositionNode, { children }: CompositionConfig, path: string): CompositionNode[] {
  const known = new Map((node.subAgents ?? []).map((child) => [child.name, child]));
  if (children.length === 0) throw fault(path, 'it has no children');
  return children.map((name) => {
    const child = known.get(name);
    if (child) return child;
    const names = [...known.keys()].join(', ') || 'none';
    throw new CoxswainError(
      'NOT_FOUND',
      'E_AGENT_UNKNOWN',
      `composition at ${path}: there is no sub-agent ${JSON.stringify(name)}; there are: ${names}`,
    );
  });
}

function checkDepth(node: CompositionNode, { maxDepth }: CompositionConfig, path: string): void {
  if (maxDepth === undefined) return;
  const depth = depthOf(node);
  if (depth > maxDepth) throw fault(path, `it is ${depth} levels deep, maxDepth is ${maxDepth}`);
}

/** Levels of agents below a node. */
function depthOf(node: CompositionNode): number {
  return Math.max(0, ...(node.composition ? (node.subAgents ?? []) : []).map((child) => 1 + depthOf(child)));
}

function fault(path: string, why: string): CoxswainError {
  return new CoxswainError('INVALID_ARGUMENT', 'E_COMPOSITION', `composition at ${path}: ${why}`);
}
