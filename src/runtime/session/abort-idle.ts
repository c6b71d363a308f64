import type { LiveSession } from '../live/index.ts';
import { readOn } from '../live/index.ts';
import { endOfAll } from '../store/index.ts';

/** Nothing runs, but something is open, or a turn was cut off: all of it is settled and the turn ends. */
export async function abortIdle(live: LiveSession, agent: string, reason: string): Promise<void> {
  await live.catchUp();
  if (isOver(live)) return;
  const lease = await live.lease();
  try {
    await live.catchUp();
    if (isOver(live)) return;
    await settleAll(live, agent, reason, lease.epoch);
  } finally {
    await lease.release();
  }
}

function isOver({ fold: { open, turn } }: LiveSession): boolean {
  return open.size === 0 && (!turn || turn.ended !== undefined);
}

async function settleAll(live: LiveSession, agent: string, reason: string, epoch: number): Promise<void> {
  for (let tries = 1; ; tries++) {
    const { at } = live.fold;
    try {
      await live.commit(endOfAll(live.fold, agent, reason), epoch);
      live.releaseHeld(reason);
      return;
    } catch (error) {
      // Somebody has answered one of the open calls in the same moment.
      await readOn(live, { error, at, tries });
    }
  }
}
