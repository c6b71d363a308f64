import type { Agent, StoredEvent } from '../../../src/runtime/index.ts';
import { AgentTree, agentOfTool, LlmAgent, LoopAgent, SequentialAgent } from '../../../src/runtime/index.ts';
import type { Life } from './live.ts';
import { key } from './process.ts';
import { customGroups } from './tree.ts';

/** Children that come one after the other do so in the log. */
export function orderFaults({ logs, trees }: Life): string[] {
  return [...logs].flatMap(([id, log]) => {
    const agent = id === key.id ? trees.root : (trees.helper?.agent ?? trees.root);
    const walker = new Walker(log);
    walker.slot(agent, new AgentTree(agent), '');
    return walker.faults;
  });
}

class Walker {
  readonly faults: string[] = [];
  readonly #log: readonly StoredEvent[];

  constructor(log: readonly StoredEvent[]) {
    this.#log = log;
  }

  /** An agent and whoever it handed its place over to. */
  slot(agent: Agent, tree: AgentTree, path: string): void {
    this.#activation(agent, tree, path);
    for (const event of this.#log) {
      for (const part of event.content?.parts ?? []) {
        if (part.type !== 'function_call' || part.name !== 'transfer_to_agent') continue;
        const next = `${path}~${part.id}`;
        const target = tree.find(String(part.args.agent_name));
        if (target && this.#log.some((other) => isUnder(next, other.path))) this.#activation(target, tree, next);
      }
    }
  }

  #activation(agent: Agent, tree: AgentTree, path: string): void {
    if (agent instanceof LlmAgent) {
      this.#experts(agent, path);
      return;
    }
    const { subAgents } = agent;
    const runs = agent instanceof LoopAgent ? subAgents.length * agent.maxIterations : subAgents.length;
    for (let n = 0; n < runs; n++) {
      const child = subAgents[n % subAgents.length];
      if (child) this.slot(child, tree, `${path}/${n}`);
    }
    const oneByOne = agent instanceof SequentialAgent || agent instanceof LoopAgent;
    const groups = oneByOne ? Array.from({ length: runs }, (_, n) => [n]) : customGroups.get(agent);
    if (groups) this.#inOrder(path, groups);
  }

  #experts(agent: LlmAgent, path: string): void {
    for (const event of this.#log) {
      if (event.path !== path) continue;
      for (const part of event.content?.parts ?? []) {
        const tree = part.type === 'function_call' ? expertOf(agent, part.name) : undefined;
        if (tree && part.type === 'function_call') this.slot(tree.root, tree, `${path}/${part.id}`);
      }
    }
  }

  #inOrder(path: string, groups: readonly (readonly number[])[]): void {
    let last = 0;
    for (const group of groups) {
      const seqs = this.#log
        .filter((event) => group.some((n) => isUnder(`${path}/${n}`, event.path)))
        .map(({ seq }) => seq);
      const [first] = seqs;
      if (first !== undefined && first < last)
        this.faults.push(`${path}/${group.join()} began before its predecessor ended`);
      last = Math.max(last, ...seqs);
    }
  }
}

function expertOf(agent: LlmAgent, name: string): AgentTree | undefined {
  return (agent.tools.get(name)?.tool as { [agentOfTool]?: AgentTree } | undefined)?.[agentOfTool];
}

function isUnder(place: string, path: string): boolean {
  return path === place || path.startsWith(`${place}/`) || path.startsWith(`${place}~`);
}
