import type { MemorySession, StateValues } from './in-memory-session.ts';
import { joinedState } from './in-memory-session.ts';
import type { SessionKey, SessionService } from './session-service.ts';

type Find = (key: SessionKey) => MemorySession | undefined;

const known = new WeakMap<SessionService, Find>();
const reads = new WeakMap<SessionService, SessionService['get']>();

/** From now on `stateAt` finds the sessions of this store, as long as `get` is its own. */
export function saysAtOnce(service: SessionService, get: SessionService['get'], find: Find): void {
  known.set(service, find);
  reads.set(service, get);
}

/**
 * State of the session that was made at `createdAt`, if its newest event is the one at `at` and its store can say so at
 * once. Undefined: it is to be read.
 */
export function stateAt(
  service: SessionService,
  key: SessionKey,
  at: number,
  createdAt: number,
): Readonly<StateValues> | undefined {
  const session = known.get(service)?.(key);
  // Whoever reads in a way of their own is asked.
  if (session?.events.length !== at || session.createdAt !== createdAt || service.get !== reads.get(service))
    return undefined;
  return joinedState(session);
}
