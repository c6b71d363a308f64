import type { SessionInput } from '../../contracts/index.ts';
import { isCoxswainError } from '../../contracts/index.ts';
import type { Event } from '../log/index.ts';
import type { GivenCredential } from '../services/index.ts';
import { keepCredentials } from '../services/index.ts';
import type { Heard } from './accept-inputs.ts';
import { acceptInputs } from './accept-inputs.ts';
import type { OpenRun } from './open-run.ts';

/** Codes of a store where somebody else was faster. */
export const outrun: ReadonlySet<string> = new Set(['E_SESSION_CONFLICT', 'E_EVENT_EXISTS']);

/**
 * Stores a run's inputs, or refuses them all. They are stored only where nobody has written since they were looked at:
 * what they answer, or would close, may have been settled meanwhile. `at` is where the log stood before; `stored` is
 * not taken in yet.
 */
export async function storeInputs(
  invocation: OpenRun,
  inputs: readonly SessionInput[],
  epoch: number,
): Promise<{ at: number; stored: readonly Event[] }> {
  const { session, fold } = invocation;
  const heard: Heard = { results: new Map() };
  for (;;) {
    const { at } = fold;
    const credentials: GivenCredential[] = [];
    const events = await acceptInputs(invocation, inputs, credentials, heard);
    if (events.length === 0) return { at: fold.at, stored: events };
    const ids = new Set(events.map(({ id }) => id));
    const takeBack = credentials.length > 0 ? await keepCredentials(invocation.services, credentials) : undefined;
    try {
      return { at, stored: await session.store(events, epoch, at) };
    } catch (error) {
      // What came with answers that somebody else was faster with was not asked for any more.
      await takeBack?.();
      if (!isCoxswainError(error) || !outrun.has(error.code)) throw error;
      await session.catchUp();
      if (fold.at === at) throw error;
      // Made again, they would be stored again and again by a store that says no to what it does.
      if (session.since(at).some(({ id, invocationId }) => invocationId === invocation.invocationId && ids.has(id)))
        throw error;
    }
  }
}
