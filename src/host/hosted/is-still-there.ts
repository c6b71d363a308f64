import type { AgentSession } from '../../contracts/index.ts';
import { isCoxswainError } from '../../contracts/index.ts';

/**
 * False where the session was deleted since it was opened, whether another one has its id by now or not: all that is asked
 * of this handle is refused then, and whoever opens the session anew is given what is there.
 */
export async function isStillThere(session: Pick<AgentSession, 'standing'>): Promise<boolean> {
  try {
    await session.standing?.();
  } catch (error) {
    // Whatever else keeps it from being read is met again by whoever reads it.
    return !(isCoxswainError(error) && ['E_SESSION_NOT_FOUND', 'E_SESSION_CONFLICT'].includes(error.code));
  }
  return true;
}
