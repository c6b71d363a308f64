import type {
  AgentEvent,
  AgentSession,
  ExecutionOptions,
  PermissionMode,
  SessionInput,
  StreamEndEvent,
} from '../contracts/index.ts';
import type { StreamQueue } from './queue.ts';

/** Key of {@link PipeableSession}'s method. */
export const pipe: unique symbol = Symbol.for('coxswain.pipe') as never;

/**
 * A session that can deliver into a queue of somebody else's: a host in the same process saves a queue and an
 * iterator for every frame. Optional; `stream()` is the contract.
 */
export interface PipeableSession extends AgentSession {
  /** What the session was updated to; survives restarts. */
  readonly permissionMode: PermissionMode | undefined;
  /** Runs one stream into `queue` and resolves to its stream_end, which is not pushed. */
  [pipe](
    input: readonly SessionInput[],
    options: ExecutionOptions,
    queue: StreamQueue<AgentEvent>,
  ): Promise<StreamEndEvent>;
}

export function isPipeable(session: AgentSession): session is PipeableSession {
  return pipe in session;
}
