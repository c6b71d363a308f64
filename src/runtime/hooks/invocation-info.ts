import type { Principal } from '../../contracts/index.ts';
import type { SessionKey, SessionService } from '../store/index.ts';

/** An agent as hooks see it. */
export interface AgentNode {
  readonly name: string;
  readonly description: string;
  readonly subAgents: readonly AgentNode[];
}

/** The agents of a run, by name. */
export interface AgentNames {
  readonly root: AgentNode;
  find(name: string): AgentNode | undefined;
  parent(agent: AgentNode): AgentNode | undefined;
  /** Names from the root to the agent. */
  pathOf(agent: AgentNode): string[];
  contains(ancestor: AgentNode, name: string): boolean;
}

/** What hooks may know of the run they are called in. */
export interface InvocationInfo {
  readonly key: SessionKey;
  readonly sessionId: string;
  /** See `CallInfo`; absent before the session's first event. */
  readonly sessionUid?: string | undefined;
  readonly invocationId: string;
  readonly turnId: string;
  /** Whose session it is. */
  readonly userId: string;
  /** On whose behalf its turn was begun, as the log keeps it. Where nobody said: the user. */
  readonly principal: Principal;
  readonly signal: AbortSignal;
  readonly tree: AgentNames;
  readonly store: SessionService;
  readonly deps: unknown;
  /** Every tool call waits for a host. */
  readonly hostRuns: boolean;
  /** State as the session sees it now, an isolated copy. */
  state(): Record<string, unknown>;
}
