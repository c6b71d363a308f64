import { CoxswainError } from '../../contracts/index.ts';
import { endOfCall, endOfSlot, ownerOfThread, releaseWithin } from '../calls/index.ts';
import type { LiveSession, RunningInvocation } from '../live/index.ts';
import { readOn } from '../live/index.ts';
import type { StoredEvent } from '../log/index.ts';
import { slotOfCall } from '../log/index.ts';
import { wish } from './abort-elsewhere.ts';

/**
 * Where an event comes from that is written beside a run, or while none is under way. Of a run that is closing nothing
 * is shown any more; one whose inputs may yet be refused has shown nothing.
 */
export function originOf(running: RunningInvocation | undefined): { streamId: string; invocationId: string } {
  return running?.accepted && !running.closing ? running.origin() : { streamId: '', invocationId: '' };
}

/** Ends one call; with one that runs an agent, all that the agent does and waits for. */
export async function abortCall(live: LiveSession, requestId: string, reason: string): Promise<void> {
  const call = live.fold.callOf(requestId);
  if (!call) return;
  const running = live.current?.invocation;
  // Closed in the log it may run on: another process has closed it.
  const ended = running?.abortCall(call.id, aborted(reason));
  if (ended) return ended;
  if (call.settled) return;
  await storeEnd(live, slotOfCall(call), reason, () => {
    const events = call.settled ? [] : endOfCall(live.fold, call, reason, originOf(running));
    const [first] = events;
    // Whoever runs it elsewhere is told by the same event.
    if (first && !running) first.actions.abort = wish({ requestId: call.id, reason });
    return events;
  });
}

/**
 * Ends a branch of a parallel agent, or an agent run as a tool: what is open in it is settled, and it is not entered
 * again. Nothing if it has ended, or there is none.
 * @throws CoxswainError `ABORTED / E_SESSION_BUSY` while another process runs the session: see `endElsewhere`
 */
export async function abortThread(live: LiveSession, threadId: string, reason: string): Promise<void> {
  // A run may end, and another begin, while this waits.
  const running = () => live.current?.invocation;
  const stop = () => running()?.abortBranch(threadId, aborted(reason));
  const ended = stop();
  if (ended) return ended;
  await live.catchUp();
  // Entered again meanwhile: it ends where it runs.
  const late = stop();
  if (late) return late;
  const owner = ownerOf(live, threadId);
  if (!owner) return;
  if ('id' in owner) return abortCall(live, owner.id, reason);
  const end = () =>
    storeEnd(live, owner.path, reason, () => {
      const slot = ownerOf(live, threadId);
      if (!slot || !('outcome' in slot)) return [];
      running()?.forgetWithin(slot.path);
      return endOfSlot(live.fold, slot, reason, originOf(running()));
    });
  await (running() ? end() : alone(live, end));
  await stop();
}

/** Under a lease: a run of this process that begins meanwhile waits for it. */
async function alone(live: LiveSession, work: () => Promise<void>): Promise<void> {
  while (live.aborting) await live.aborting.catch(() => {});
  const held = async () => {
    const lease = await live.lease();
    try {
      await live.catchUp();
      await work();
    } finally {
      await lease.release();
    }
  };
  live.aborting = held().finally(() => {
    live.aborting = undefined;
  });
  await live.aborting;
}

function ownerOf({ fold, current }: LiveSession, threadId: string) {
  if (!fold.turn || fold.turn.ended !== undefined) return undefined;
  // It may have ended without having told yet.
  return current?.invocation.hasThread(threadId) === false ? undefined : ownerOfThread(fold, threadId);
}

function aborted(reason: string): CoxswainError {
  return new CoxswainError('ABORTED', 'E_ABORTED', reason);
}

/** Stores the end of a part of the turn, together with what is open in it. */
async function storeEnd(live: LiveSession, slot: string, reason: string, make: () => StoredEvent[]): Promise<void> {
  for (let tries = 1; ; tries++) {
    const { at } = live.fold;
    const running = live.current?.invocation;
    const events = make();
    if (events.length === 0) return;
    const stored = live.append(events);
    if (running && !running.closing) running.reserve(stored);
    try {
      await stored;
      releaseWithin(live, slot, aborted(reason));
      return;
    } catch (error) {
      // Something of it was settled in the same moment.
      await readOn(live, { error, at, tries });
    }
  }
}
