import { isCoxswainError } from '../../contracts/index.ts';
import type { LiveSession, RunningInvocation } from '../live/index.ts';
import type { StoredEvent } from '../log/index.ts';

/** What is to be stored, and whether it is for the run that is under way. */
export interface Beside {
  event: StoredEvent;
  reaches: boolean;
}

/**
 * Stores an event beside a run, where nobody has written since it was made; else it is made again: the run that it was
 * made for may have ended. One that it reaches does not close before it is stored.
 */
export function storeBeside<T extends Beside>(
  live: LiveSession,
  make: (running: RunningInvocation | undefined) => T,
): Promise<T> {
  return live.inTurn(async () => {
    const held = Promise.withResolvers<void>();
    try {
      for (;;) {
        const running = live.current?.invocation;
        const made = make(running);
        const { at } = live.fold;
        const stored = live.append([made.event], { expectedSeq: at });
        if (made.reaches) running?.reserve(held.promise);
        if (await isStored(live, stored, at, made.event.id)) return made;
      }
    } finally {
      held.resolve();
    }
  });
}

/** False: somebody else has written in between. What is in the log is stored, whatever the store says. */
async function isStored(live: LiveSession, stored: Promise<void>, at: number, id: string): Promise<boolean> {
  try {
    await stored;
    return true;
  } catch (error) {
    if (!isCoxswainError(error) || error.code !== 'E_SESSION_CONFLICT') throw error;
    await live.catchUp();
    if (live.fold.at === at) throw error;
    return live.since(at).some((event) => event.id === id);
  }
}
