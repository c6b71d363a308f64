import { guarded, kindOf } from '../../base/index.ts';
import { CoxswainError } from '../../contracts/index.ts';
import type { Outcome } from '../log/index.ts';
import type { AgentContext } from './agent-context.ts';

/**
 * What the runtime runs. An agent holds no state of a run: its position is a fold of the log, and `run` is entered
 * again from the top after every pause.
 */
export interface Agent {
  readonly name: string;
  readonly description: string;
  readonly subAgents: readonly Agent[];
  /**
   * How it ended cannot be found out from its events (it is re-executed, or it lives in memory): its outcome is
   * stored before anybody acts on it.
   */
  readonly recordsOutcome?: boolean;
  /** It waits in memory: a turn that is open does not survive its process. */
  readonly heldInMemory?: boolean;
  run(context: AgentContext): Promise<Outcome>;
  /** It, or something that it runs, could end the loop around it. Default: nobody knows, so yes. */
  mayEscalate?(): boolean;
  /** Looks whether it can work at its place in a tree; throws if it cannot. */
  checkPlace?(tree: AgentTree, place: string): void;
}

/** Marks a tool that runs an agent. */
export const agentOfTool: unique symbol = Symbol.for('coxswain.agentOfTool') as never;

export function mayEscalate(agent: Agent): boolean {
  return agent.mayEscalate?.() ?? true;
}

const validName = /^[A-Za-z_$][\w$-]*$/;

/** @throws CoxswainError `INVALID_ARGUMENT / E_AGENT_NAME` */
export function assertAgentName(name: string): void {
  if (typeof name !== 'string' || !validName.test(name) || name === 'user') {
    throw new CoxswainError(
      'INVALID_ARGUMENT',
      'E_AGENT_NAME',
      `agent name ${typeof name === 'string' ? JSON.stringify(name) : `(${kindOf(name)})`} is not an identifier (letters, digits, _, $, -; not "user")`,
    );
  }
}

function isAgent(given: unknown): given is Agent {
  return guarded('an agent', () => {
    const { name, run, subAgents } = Object(given) as Partial<Agent>;
    return typeof name === 'string' && typeof run === 'function' && Array.isArray(subAgents);
  });
}

function noAgent(place: string, given: unknown): CoxswainError {
  const why = given === undefined ? 'undefined: do two modules import each other?' : 'no agent';
  return new CoxswainError('INVALID_ARGUMENT', 'E_COMPOSITION', `composition at ${place}: it is ${why}`);
}

const trees = new WeakMap<Agent, AgentTree>();

/** An agent tree, indexed and checked once. */
export class AgentTree {
  readonly root: Agent;
  readonly #parents = new Map<Agent, Agent | undefined>();
  readonly #byName = new Map<string, Agent>();

  /**
   * The tree of a root, made once: every session of an agent shares it.
   * @throws CoxswainError `INVALID_ARGUMENT / E_DUPLICATE_AGENT` naming both places
   */
  static of(root: Agent): AgentTree {
    let tree = trees.get(root);
    if (!tree) {
      tree = new AgentTree(root);
      trees.set(root, tree);
    }
    return tree;
  }

  /**
   * @throws CoxswainError `INVALID_ARGUMENT / E_DUPLICATE_AGENT` naming both places; `E_COMPOSITION | E_LOOP_UNBOUNDED`, `NOT_FOUND /
   *   E_TRANSFER` naming the place
   */
  constructor(root: Agent) {
    if (!isAgent(root)) throw noAgent('the root', root);
    this.root = root;
    const places = new Map<string, string>();
    this.#add(root, undefined, root.name, places);
    for (const [name, agent] of this.#byName) agent.checkPlace?.(this, places.get(name) ?? name);
  }

  find(name: string): Agent | undefined {
    return this.#byName.get(name);
  }

  parent(agent: Agent): Agent | undefined {
    return this.#parents.get(agent);
  }

  /** Names from the root to the agent; only its own name for one outside the tree (an agent run as a tool). */
  pathOf(agent: Agent): string[] {
    const path: string[] = [];
    for (let at: Agent | undefined = agent; at; at = this.#parents.get(at)) path.unshift(at.name);
    return path;
  }

  contains(ancestor: Agent, name: string): boolean {
    for (let at = this.#byName.get(name); at; at = this.#parents.get(at)) if (at === ancestor) return true;
    return false;
  }

  #add(agent: Agent, parent: Agent | undefined, place: string, places: Map<string, string>): void {
    const known = places.get(agent.name);
    if (known !== undefined) {
      const twice = this.#byName.get(agent.name) === agent ? 'one agent stands' : 'two agents of one name stand';
      throw new CoxswainError(
        'INVALID_ARGUMENT',
        'E_DUPLICATE_AGENT',
        `${twice} at ${known} and at ${place}; names are unique in a tree, each agent has one parent`,
      );
    }
    places.set(agent.name, place);
    this.#byName.set(agent.name, agent);
    this.#parents.set(agent, parent);
    for (const [index, child] of agent.subAgents.entries()) {
      if (isAgent(child)) this.#add(child, agent, `${place}/${child.name}`, places);
      else throw noAgent(`${place}.subAgents[${index}]`, child);
    }
  }
}
