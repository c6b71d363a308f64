import type { Run } from '../agent/index.ts';
import type { LiveSession } from '../live/index.ts';
import { readOn } from '../live/index.ts';
import type { CallState, CompletedRecord, Fold, StoredEvent } from '../log/index.ts';
import { abandoned, createEvent, DONE, isWithin, responseEvent, slotOfCall } from '../log/index.ts';

type Origin = { streamId: string; invocationId: string };

/** Responses for all that is open within the agent that a call runs, leaf first: nobody comes back for it. */
export function closeWithin(fold: Fold, call: CallState, why: string, origin: Origin): StoredEvent[] {
  const slot = slotOfCall(call);
  return close(fold, ({ path }) => isWithin(slot, path), why, origin);
}

function close(fold: Fold, isWanted: (call: CallState) => boolean, why: string, origin: Origin): StoredEvent[] {
  const open = [...fold.open.values()].filter(isWanted);
  return open.reverse().map((call) => responseEvent(call, abandoned(call, why), origin));
}

/** What ends one call: with one that runs an agent, all that the agent waits for. */
export function endOfCall(fold: Fold, call: CallState, why: string, origin: Origin): StoredEvent[] {
  return [...closeWithin(fold, call, why, origin), responseEvent(call, abandoned(call, why), origin)];
}

/** What ends a slot for good, if it has not ended: nothing in it is open any more, and it is not entered again. */
export function endOfSlot(fold: Fold, slot: CompletedRecord, why: string, origin: Origin): StoredEvent[] {
  const end = createEvent({
    ...origin,
    turnId: fold.turn?.id ?? '',
    author: slot.agent,
    actions: { completed: [slot] },
  });
  // Another turn may have had a branch at this place.
  const isWanted = ({ path, turnId }: CallState) => turnId === fold.turn?.id && isWithin(slot.path, path);
  const open = close(fold, isWanted, why, origin);
  return fold.activations.get(slot.path)?.completed ? open : [...open, end];
}

/** Executors that wait in memory within a slot are let go. */
export function releaseWithin({ held }: LiveSession, slot: string, reason: unknown): void {
  for (const [path, one] of [...held]) {
    if (!isWithin(slot, path)) continue;
    held.delete(path);
    one.release(reason);
  }
}

/** What has the thread: a branch that has begun and not ended, or the open call that runs an agent. */
export function ownerOfThread(fold: Fold, threadId: string): CompletedRecord | CallState | undefined {
  for (const call of fold.open.values()) if (slotOfCall(call) === threadId) return call;
  let found: CompletedRecord | undefined;
  for (const [path, { began, completed }] of fold.activations) {
    // A branch is named for its agent; agents below it are in its thread too.
    if (began?.thread !== threadId || completed || !threadId.endsWith(`.${began.agent}`)) continue;
    found = { path, agent: began.agent, outcome: DONE, thread: threadId, aborted: true };
  }
  return found;
}

/** Stores what ends something. Made again if somebody has answered one of its calls in the same moment. */
export async function storeEnd(invocation: Run, make: () => StoredEvent[]): Promise<void> {
  const { fold, session } = invocation;
  for (let tries = 1; ; tries++) {
    const { at } = fold;
    const events = make();
    if (events.length === 0) return;
    try {
      return await invocation.emit(...events);
    } catch (error) {
      await readOn(session, { error, at, tries });
    }
  }
}
