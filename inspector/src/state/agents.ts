import type { AgentEvent } from 'coxswain/client';

/** One agent of a session, as its events name it. */
export interface AgentNode {
  name: string;
  /** Where it was started; absent: it is known by its words or calls alone. */
  path?: string;
  parent?: string;
  /** It was started and has not ended. */
  isStarted: boolean;
  /** Words of it, and calls. */
  messages: number;
  calls: number;
  /** Calls that are open now, by id. */
  open: Map<string, { name: string; isStarted: boolean }>;
  lastAt: string;
}

/** Who takes part in a session, and who has the word. */
export class AgentsFold {
  readonly nodes = new Map<string, AgentNode>();
  /** Who spoke last, or was handed the conversation. */
  speaker: string | undefined;
  /** The newest turn has not ended. */
  isOn = false;
  readonly #callers = new Map<string, AgentNode>();

  take(event: AgentEvent): void {
    const { agentId = '', timestamp: at } = event;
    switch (event.type) {
      case 'message':
        if (event.role === 'user') {
          this.isOn = true;
          return;
        }
        this.#node(agentId, at).messages++;
        this.speaker = agentId;
        return;
      case 'tool_request': {
        const node = this.#node(agentId, at);
        node.calls++;
        node.open.set(event.requestId, { name: event.name, isStarted: false });
        this.#callers.set(event.requestId, node);
        this.speaker = agentId;
        return;
      }
      case 'tool_update': {
        const call = this.#callers.get(event.requestId)?.open.get(event.requestId);
        if (call && event.status === 'started') call.isStarted = true;
        return;
      }
      case 'tool_response':
        this.#callers.get(event.requestId)?.open.delete(event.requestId);
        return;
      case 'stream_end':
        if (event.reason === 'input_required') return;
        this.isOn = false;
        for (const node of this.nodes.values()) node.isStarted = false;
        return;
      case 'custom':
        this.#custom(event.kind, event.data, at);
        return;
      default:
    }
  }

  #custom(kind: string, data: unknown, at: string): void {
    const { agent, path, from, to } = (data ?? {}) as Partial<Record<'agent' | 'path' | 'from' | 'to', string>>;
    if (kind === 'agent_started' && agent !== undefined) {
      const node = this.#node(agent, at);
      if (path !== undefined) node.path = path;
      node.isStarted = true;
      // A workflow names the agent above it by its place.
      const above = path?.split('/').slice(0, -1).join('/');
      const parent = [...this.nodes.values()].find((one) => one !== node && one.path === above);
      if (parent) node.parent ??= parent.name;
      this.speaker = agent;
    } else if (kind === 'agent_completed' && agent !== undefined) this.#node(agent, at).isStarted = false;
    else if (kind === 'agent_transfer' && from !== undefined && to !== undefined) {
      const node = this.#node(to, at);
      const isAbove = this.#isAbove(to, from);
      if (node.parent === undefined && !isAbove) node.parent = from;
      this.speaker = to;
    }
  }

  #isAbove(name: string, of: string): boolean {
    const seen = new Set<string>();
    for (let at = this.nodes.get(of); at && !seen.has(at.name); at = this.nodes.get(at.parent ?? '')) {
      if (at.name === name) return true;
      seen.add(at.name);
    }
    return false;
  }

  #node(name: string, at: string): AgentNode {
    let node = this.nodes.get(name);
    if (!node) {
      const isFirst = this.nodes.size === 0;
      const [root] = this.nodes.keys();
      node = { name, isStarted: false, messages: 0, calls: 0, open: new Map(), lastAt: at };
      if (!isFirst && root !== undefined && name !== root) node.parent = root;
      this.nodes.set(name, node);
    }
    node.lastAt = at;
    return node;
  }
}

/** Depth first, with how deep each stands. */
export function inOrder(nodes: ReadonlyMap<string, AgentNode>): { node: AgentNode; depth: number }[] {
  const all = [...nodes.values()];
  const rows: { node: AgentNode; depth: number }[] = [];
  const seen = new Set<string>();
  const add = (node: AgentNode, depth: number) => {
    if (seen.has(node.name)) return;
    seen.add(node.name);
    rows.push({ node, depth });
    for (const child of all) if (child.parent === node.name) add(child, depth + 1);
  };
  for (const node of all) if (node.parent === undefined || !nodes.has(node.parent)) add(node, 0);
  for (const node of all) add(node, 0);
  return rows;
}
