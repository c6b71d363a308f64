import { setTimeout as sleep } from 'node:timers/promises';
import type { AbortTarget } from '../../contracts/index.ts';
import { CoxswainError, isCoxswainError } from '../../contracts/index.ts';
import type { Heeded } from '../../session/index.ts';
import type { FollowOptions, LiveSession } from '../live/index.ts';
import { DEFAULT_FOLLOW_MS } from '../live/index.ts';
import type { StoredEvent } from '../log/index.ts';
import { createEvent } from '../log/index.ts';

/** Looks that the process which runs a session has for hearing that it is to end. */
const LOOKS = 10;
/** The longest from one look to the next of whoever waits for the end. */
const WAIT_MS = 100;

type Wish = NonNullable<StoredEvent['actions']['abort']>;

/**
 * Does `work`, which ends what nobody runs; where another process runs it, that one is asked to end it, by the log, and
 * `work` is done once it has let go.
 * @throws CoxswainError `ABORTED / E_SESSION_BUSY` where it has not within ten of its looks: it was asked, no more
 */
export async function endElsewhere(
  live: LiveSession,
  target: AbortTarget,
  everyMs: number = DEFAULT_FOLLOW_MS,
  work: () => Promise<void>,
): Promise<void> {
  let deadline: number | undefined;
  let turnId: string | undefined;
  /** Who has been asked. */
  let asked: number | undefined;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isCoxswainError(error) || error.code !== 'E_SESSION_BUSY') throw error;
      if (deadline !== undefined && Date.now() > deadline) throw unheard(error, everyMs);
    }
    deadline ??= Date.now() + LOOKS * everyMs;
    await live.catchUp();
    turnId ??= live.fold.turn?.id;
    const epoch = await live.holder();
    if (epoch !== undefined && epoch !== asked && (await ask(live, target, epoch))) asked = epoch;
    await sleep(Math.min(everyMs, WAIT_MS));
    await live.catchUp();
    // What runs now is not what was to be ended.
    if (live.fold.turn?.id !== turnId) return;
  }
}

/** Stores the wish, for whoever holds the session with this epoch. False: the turn has ended, or there is none. */
async function ask(live: LiveSession, target: AbortTarget, epoch: number): Promise<boolean> {
  for (;;) {
    const { at, turn } = live.fold;
    if (!turn || turn.ended !== undefined) return false;
    const actions = { abort: { ...wish(target), epoch } };
    const event = createEvent({ turnId: turn.id, author: 'user', actions });
    try {
      await live.append([event], { expectedSeq: at });
      return true;
    } catch (error) {
      if (!isCoxswainError(error) || error.code !== 'E_SESSION_CONFLICT') throw error;
      await live.catchUp();
      if (live.fold.at === at) throw error;
      if (live.since(at).some(({ id }) => id === event.id)) return true;
    }
  }
}

/** What is stored of it. */
export function wish({ reason = 'aborted', requestId, threadId }: AbortTarget): Wish {
  return {
    reason,
    ...(requestId === undefined ? {} : { requestId }),
    ...(threadId === undefined ? {} : { threadId }),
  };
}

/** Tells of what other processes do to the turn that runs here, until the returned function is called. */
export function heedLog(
  live: LiveSession,
  tell: (heard: Heeded) => void,
  following: FollowOptions,
): (() => void) | undefined {
  if (live.service.isPrivate) return undefined;
  const before = live.epoch;
  // Of a part that is closed with the wish there is nothing to go on with; any other is meant for one holder alone.
  const isMeant = ({ requestId, epoch }: Wish) => requestId !== undefined || (epoch === live.epoch && epoch !== before);
  return live.follow((event) => {
    // Of a stream is what whoever runs the session has written itself.
    if (event.streamId !== '') return;
    const { abort, answers } = event.actions;
    const { turn } = live.fold;
    if (abort && turn?.id === event.turnId && turn.ended === undefined && isMeant(abort)) {
      const { epoch: _, ...target } = abort;
      tell({ abort: target });
    } else if (answers || event.content) tell({});
  }, following);
}

function unheard(cause: CoxswainError, everyMs: number): CoxswainError {
  const message = `${cause.message}; it has been asked to end that and has not done so within ${LOOKS * everyMs} ms: look again, or end that process`;
  return new CoxswainError('ABORTED', 'E_SESSION_BUSY', message, {
    cause,
    ...(cause.details ? { details: cause.details } : {}),
  });
}
