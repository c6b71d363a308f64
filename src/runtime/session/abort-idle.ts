import { isCoxswainError } from '../../contracts/index.ts';
import type { LiveSession } from '../live/index.ts';
import type { Event, Fold } from '../log/index.ts';
import { abandoned, createEvent, responseEvent } from '../log/index.ts';

/** Nothing runs, but something is open, or a turn was cut off: all of it is settled and the turn ends. */
export async function abortIdle(live: LiveSession, agent: string, reason: string): Promise<void> {
  await live.catchUp();
  if (isOver(live)) return;
  const lease = await live.lease();
  try {
    await live.catchUp();
    if (isOver(live)) return;
    while (!(await settleAll(live, agent, reason, lease.epoch)));
  } finally {
    await lease.release();
  }
}

function isOver({ fold: { open, turn } }: LiveSession): boolean {
  return open.size === 0 && (!turn || turn.ended !== undefined);
}

/** False: somebody has answered one of the open calls in the same moment. */
async function settleAll(live: LiveSession, agent: string, reason: string, epoch: number): Promise<boolean> {
  const { at } = live.fold;
  try {
    await live.commit(endOfAll(live.fold, agent, reason), epoch);
    live.releaseHeld(reason);
    return true;
  } catch (error) {
    if (!isCoxswainError(error) || error.code !== 'E_EVENT_EXISTS') throw error;
    await live.catchUp();
    if (live.fold.at === at) throw error;
    return false;
  }
}

/**
 * What closes all that is open, and the turn.
 * @param agent who ends a turn that nobody is in
 * @param mayHaveRun false: of a copy, in which none of the calls was ever started
 */
export function endOfAll(fold: Fold, agent: string, reason: string, mayHaveRun?: false): Event[] {
  const origin = { streamId: '', invocationId: '' };
  // Leaf first: what was asked last is closed first.
  const events = [...fold.open.values()]
    .reverse()
    .map((call) => responseEvent(call, abandoned(call, reason, mayHaveRun), origin));
  if (fold.turn && fold.turn.ended === undefined) {
    const author = fold.occupant ?? agent;
    events.push(createEvent({ turnId: fold.turn.id, author, actions: { end: { reason: 'aborted' } } }));
  }
  return events;
}
