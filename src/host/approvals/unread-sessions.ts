import type { Principal } from '../../contracts/index.ts';
import { isCoxswainError } from '../../contracts/index.ts';
import { nameOfPrincipal } from '../../session/index.ts';
import { prefixesOf } from './open-places.ts';

/**
 * What cannot be read in a store is an error for whose session it is; for others the session is not there.
 * @param owner whose it is, where that was said
 */
export async function toldToOwner<T>(
  work: () => Promise<T>,
  who: Principal,
  warn: (message: string, error?: unknown) => void,
  owner?: string,
): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (!isCoxswainError(error) || error.status !== 'DATA_LOSS') throw error;
    const { key } = (error.details ?? {}) as { key?: { userId?: unknown } };
    if ((owner ?? key?.userId) === nameOfPrincipal(who)) throw error;
    warn(`a question of ${who.id} reached a session that cannot be read`, error);
    return undefined;
  }
}

/**
 * There is a session, readable or not, whose sub-agent's this may be by its id.
 * @param open opens a session of the same user
 */
export async function hasCaller(id: string, open: (sessionId: string) => Promise<AsyncDisposable>): Promise<boolean> {
  for (const sessionId of prefixesOf(id)) {
    try {
      await using _ = await open(sessionId);
      return true;
    } catch (error) {
      if (!isCoxswainError(error) || error.code !== 'E_SESSION_NOT_FOUND') return true;
    }
  }
  return false;
}
