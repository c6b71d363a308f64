import type { LazyMap, LazySet } from '../../base/index.ts';
import { guarded } from '../../base/index.ts';
import type { ContentPart, Principal, ToolUpdate } from '../../contracts/index.ts';
import { CoxswainError } from '../../contracts/index.ts';
import type { InvocationInfo } from '../hooks/index.ts';
import type { LiveSession } from '../live/index.ts';
import type {
  Activation,
  BeganRecord,
  EventActions,
  EventInit,
  Failure,
  Fold,
  Outcome,
  StoredEvent,
} from '../log/index.ts';
import type { Model } from '../model/index.ts';
import type { ContextServices } from '../services/index.ts';
import type { EngineParts, InvocationOptions, RunningBranch, RunSink } from './run-parts.ts';
import type { TelemetrySpan } from './telemetry.ts';

/**
 * What the runtime runs. An agent holds no state of a run: its position is derived from the log, and `run` is entered
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

export function mayEscalate(agent: Agent): boolean {
  return agent.mayEscalate?.() ?? true;
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

export interface Place {
  /** Place in the tree of this turn. */
  path: string;
  branch?: string | undefined;
  /** Paths of the agent-as-tool activations around it, innermost first. */
  iso: readonly string[];
  /** Where it is shown: its branch, or the agent run as a tool and the branch within it. */
  thread?: string | undefined;
  /** Names from the root. */
  agentPath: readonly string[];
  /** The tree that transfers stay in: an agent run as a tool has its own. */
  tree: AgentTree;
  /** Model of whoever runs this as a tool. */
  model?: Model | string | undefined;
  signal: AbortSignal;
  /** Parent of what is measured here. */
  span?: TelemetrySpan | undefined;
}

export interface ChildOptions {
  /** Last segment of the child's path; default: the ordinal of this `run`. */
  key?: string;
  branch?: string;
  /** An agent run as a tool: its own tree, history and state; the caller merges what comes of it. */
  isolated?: AgentTree;
  model?: Model | string | undefined;
  signal?: AbortSignal;
  span?: TelemetrySpan | undefined;
}

/** What an agent that is running asks of its run. */
export interface Run extends InvocationInfo {
  requesterOf(turnId: string): Principal;
  readonly streamId: string;
  readonly tree: AgentTree;
  readonly engine: EngineParts;
  readonly services: ContextServices;
  readonly options: InvocationOptions;
  readonly session: LiveSession;
  readonly fold: Fold;
  readonly sink: RunSink;
  /** Parent of what is measured. */
  readonly span: TelemetrySpan | undefined;
  /** Uncommitted `temp:` state by agent-as-tool path; '' for the session's own. */
  readonly temp: LazyMap<string, Record<string, unknown>>;
  /** Calls whose handlers run in this process now. */
  readonly running: LazyMap<string, { cancel(reason: unknown): Promise<void> }>;
  /** Words that an agent is about to hear: of several that come to a step at once, one does. */
  readonly takenSteers: LazySet<string>;
  readonly modelCalls: {
    begin(context: AgentContext, agent: LimitedAgent): Failure | undefined | Promise<Failure | undefined>;
    end(): void;
  };
  event(place: Place, init: EventInit): StoredEvent;
  emit(...events: StoredEvent[]): Promise<void>;
  runSlot(agent: Agent, place: Place): Promise<Outcome>;
  stored(): Promise<void> | undefined;
  reservations(): Promise<void>;
  branch(threadId: string, running: RunningBranch): () => void;
  began(record: BeganRecord): void;
  forgetWithin(slot: string): void;
  hooksRan(path: string, point: 'entered' | 'exited'): void;
  haveHooksRun(path: string, point: 'entered' | 'exited'): boolean;
  origin(): { streamId: string; invocationId: string };
  /** The end of the turn, where it was stored with the answer before it. */
  readonly end: StoredEvent | undefined;
  /**
   * The end of the turn, to be stored with this answer. Undefined: something may come between the two. Once it is made,
   * nothing that comes reaches the turn.
   */
  endBehind(answer: StoredEvent): StoredEvent | undefined;
  /** Ends the run; resolves elsewhere (the stream's end). Idempotent. */
  abort(reason?: unknown): void;
}

/** An agent whose model calls are bounded. */
export interface LimitedAgent extends Agent {
  /** The limit, if any, that forbids it to ask its model, with so many calls of the turn under way. */
  limitReached(context: AgentContext, underWay?: number): Failure | undefined;
}

/** One agent's view of the run it is in. */
export class AgentContext {
  readonly invocation: Run;
  readonly agent: Agent;
  readonly place: Place;
  readonly agentPath: readonly string[];
  #children = 0;

  constructor(invocation: Run, agent: Agent, place: Place) {
    this.invocation = invocation;
    this.agent = agent;
    this.place = place;
    this.agentPath = place.agentPath.concat(agent.name);
  }

  get path(): string {
    return this.place.path;
  }

  get branch(): string | undefined {
    return this.place.branch;
  }

  /** Path of the innermost agent-as-tool activation; '' for none. */
  get iso(): string {
    return this.place.iso[0] ?? '';
  }

  get signal(): AbortSignal {
    return this.place.signal;
  }

  /** Where this activation stands, by the log. */
  get activation(): Activation {
    return this.invocation.fold.activation(this.place.path);
  }

  /** Stores an event of this agent and shows it. Resolves when the consumer has asked for more. */
  emit(
    init: Omit<EventInit, 'author' | 'actions'> & { author?: string; actions?: Partial<EventActions> },
  ): Promise<void> {
    return this.invocation.emit(this.event(init));
  }

  event(init: Omit<EventInit, 'author'> & { author?: string }): StoredEvent {
    return this.invocation.event(this.place, { author: this.agent.name, ...init });
  }

  /** Shows a piece of a message that is being made; not stored. Await what it returns, if anything. */
  delta(messageId: string, part: number, delta: ContentPart): Promise<void> | undefined {
    const { sink } = this.invocation;
    sink.delta(this, messageId, part, delta);
    return sink.room(true);
  }

  toolUpdate(callId: string, update: ToolUpdate): void {
    this.invocation.sink.toolUpdate(this, callId, update);
  }

  /**
   * Runs a child in its own slot. THE replay rule: its path is this one's + the ordinal of this `run`; a slot that
   * has ended returns its recorded outcome, and nothing runs.
   */
  run(child: Agent, options: ChildOptions = {}): Promise<Outcome> {
    const path = `${this.place.path}/${options.key ?? this.#children++}`;
    return this.invocation.runSlot(child, {
      path,
      branch: options.branch ?? this.place.branch,
      iso: options.isolated ? [path, ...this.place.iso] : this.place.iso,
      thread: options.isolated
        ? path
        : options.branch === undefined
          ? this.place.thread
          : this.threadOf(options.branch),
      agentPath: this.agentPath,
      tree: options.isolated ?? this.place.tree,
      model: options.model ?? this.place.model,
      signal: options.signal ?? this.place.signal,
      span: options.span ?? this.place.span,
    });
  }

  /** Where a branch that parts from here is shown. */
  threadOf(branch: string): string {
    const { thread, iso, branch: own } = this.place;
    if (iso.length === 0 || thread === undefined) return branch;
    return `${thread}.${own === undefined ? branch : branch.slice(own.length + 1)}`;
  }

  /** Layers of state below a context's own writes, newest first. */
  stateLayers(): Readonly<Record<string, unknown>>[] {
    const { fold, temp } = this.invocation;
    const layers: Readonly<Record<string, unknown>>[] = [];
    for (const iso of this.place.iso) {
      const own = temp.get(iso);
      if (own) layers.push(own);
      const delta = fold.isolated.get(iso);
      if (delta) layers.push(delta);
    }
    const shared = temp.get('');
    if (shared) layers.push(shared);
    layers.push(fold.state, fold.shared);
    return layers;
  }
}
