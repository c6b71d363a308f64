import type { AgentTree } from '../agent/index.ts';
import type { SessionKey, SessionService } from '../store/index.ts';

/** What hooks may know of the run they are called in. */
export interface InvocationInfo {
  readonly key: SessionKey;
  readonly sessionId: string;
  readonly invocationId: string;
  readonly turnId: string;
  readonly signal: AbortSignal;
  readonly tree: AgentTree;
  readonly sessions: SessionService;
  readonly deps: unknown;
  /** Every tool call waits for a host. */
  readonly hostRuns: boolean;
  /** State as the session sees it now, an isolated copy. */
  state(): Record<string, unknown>;
}
