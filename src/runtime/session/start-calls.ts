import { newId } from '../../base/index.ts';
import type { ToolApprovalInput } from '../../contracts/index.ts';
import { CoxswainError, isCoxswainError } from '../../contracts/index.ts';
import type { LiveSession } from '../live/index.ts';
import { outrun } from '../live/index.ts';
import { approvedEvent } from '../run/index.ts';

/**
 * Stores the starts of calls that a host runs, under its lease, as the inputs of a run are stored: where nobody has
 * written since they were looked at. They are part of the log when it resolves.
 * @returns false: others have written meanwhile
 * @throws CoxswainError `FAILED_PRECONDITION / E_REQUEST_CLOSED | E_UNKNOWN_REQUEST`, `ABORTED / E_FENCED`
 */
export async function storeStarts(
  live: LiveSession,
  epoch: number,
  starts: readonly ToolApprovalInput[],
  streamId: string,
): Promise<boolean> {
  const { fold } = live;
  const invocationId = newId();
  for (let isAlone = true; ; isAlone = false) {
    if (!fold.turn || fold.turn.ended !== undefined) {
      const [first] = starts;
      const message = `the turn of request ${JSON.stringify(first?.requestId)} is over; nothing was stored`;
      throw new CoxswainError('FAILED_PRECONDITION', 'E_REQUEST_CLOSED', message);
    }
    const { at } = fold;
    const events = starts.map((input) =>
      approvedEvent(fold, input, { streamId, invocationId, starts: true, rerun: input.rerun === true }),
    );
    try {
      const gap = live.absorb(await live.store(events, epoch, at));
      if (gap) await gap;
      return isAlone && fold.at === at + events.length;
    } catch (error) {
      if (!isCoxswainError(error) || !outrun.has(error.code)) throw error;
      await live.catchUp();
      if (fold.at === at) throw error;
      // They are stored, whatever the store says.
      if (live.since(at).some((event) => event.invocationId === invocationId)) return false;
    }
  }
}
