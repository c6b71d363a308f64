import type { Failure, StoredEvent } from '../log/index.ts';
import type { AgentTree } from './agent.ts';
import type { EngineParts } from './run-parts.ts';

/** What a run is made of, the same for all runs of a session. */
export interface Engine extends EngineParts {
  readonly tree: AgentTree;
}

/** How a run ended; `input_required` is derived and not stored, everything else ends the turn. */
export interface InvocationResult {
  reason: string;
  failure?: Failure;
  escalate?: boolean;
  /** The stored end; absent when something is open. */
  end?: StoredEvent;
}
