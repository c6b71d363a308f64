import type { ContentPart, ToolUpdate } from '../../contracts/index.ts';
import type { Activation, Event, EventActions, EventInit, Outcome } from '../log/index.ts';
import type { Model } from '../model/index.ts';
import type { Invocation } from '../run/index.ts';
import type { Agent, AgentTree } from './agent.ts';
import type { TelemetrySpan } from './telemetry.ts';

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

/** One agent's view of the run it is in. */
export class AgentContext {
  readonly invocation: Invocation;
  readonly agent: Agent;
  readonly place: Place;
  readonly agentPath: readonly string[];
  #children = 0;

  constructor(invocation: Invocation, agent: Agent, place: Place) {
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

  event(init: Omit<EventInit, 'author'> & { author?: string }): Event {
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
