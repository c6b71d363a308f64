import { pauseAfter } from '../../base/index.ts';
import type { HostAnswer, Settlement } from '../../contracts/index.ts';
import { CoxswainError, isCoxswainError } from '../../contracts/index.ts';
import { ensureValidator, isVote } from '../../gate/index.ts';
import type { BoundedAnswer, Engine } from '../agent/index.ts';
import { assertCallOfAgent, boundedAnswer, checkEdited, withBounded } from '../agent/index.ts';
import type { LiveSession } from '../live/index.ts';
import { MOST_TRIES, outrun } from '../live/index.ts';
import { answerEvent, settlementOf } from '../log/index.ts';
import { givenCredential, keepCredentials } from '../services/index.ts';
import { originOf } from './abort-part.ts';

/**
 * Stores the answer to an open request, or tells how that was settled before. It is stored only where nobody has
 * written since it was looked at: the call may have been closed meanwhile.
 */
export async function answerRequest(
  live: LiveSession,
  engine: Engine,
  requestId: string,
  given: HostAnswer,
): Promise<Settlement> {
  await live.catchUp();
  await live.seek(requestId);
  return live.inTurn(async () => {
    const held = Promise.withResolvers<void>();
    const kept: Kept = {};
    try {
      for (let tries = 1; ; tries++) {
        const settlement = await storeAnswer(live, engine, requestId, given, {
          held: held.promise,
          kept,
          isLast: tries === MOST_TRIES,
        });
        if (settlement) return settlement;
        const pause = pauseAfter(tries);
        if (pause) await pause;
      }
    } finally {
      held.resolve();
    }
  });
}

/** What is too large is kept elsewhere once, however often the answer is tried. */
interface Kept {
  bounded?: BoundedAnswer;
}

/** Undefined: somebody else has written first; the request is to be looked at again. */
async function storeAnswer(
  live: LiveSession,
  engine: Engine,
  requestId: string,
  given: HostAnswer,
  { held, kept, isLast }: { held: Promise<void>; kept: Kept; isLast: boolean },
): Promise<Settlement | undefined> {
  const { fold } = live;
  const starts = given.kind === 'approve' && given.starts === true;
  const known = starts ? undefined : settlementOf(fold, requestId, given);
  if (known) return known;
  assertCallOfAgent(engine.tree, fold, requestId);
  const args = given.kind === 'approve' ? given.args : undefined;
  if (args) await ensureValidator();
  const call = fold.callOf(requestId);
  const edited = call && args && (await checkEdited(engine.tree, fold, call, args));
  const ask = call?.asks.find((candidate) => candidate.requestId === requestId);
  const credential = call && ask && given.kind === 'elicitation' ? givenCredential(ask, call.name, given) : undefined;
  const make = () => {
    const running = live.current?.invocation;
    const { bounded } = kept;
    const answer =
      given.kind === 'result' && bounded
        ? { ...given, result: bounded.result }
        : given.kind === 'approve' && edited
          ? { ...given, args: edited }
          : given;
    const event = answerEvent(fold, requestId, answer, { ...originOf(running), starts, rerun: starts });
    if (bounded) withBounded(event, bounded);
    // A question may be answered as soon as it is seen, even if its handler is still on the way out.
    if (running?.running.has(requestId)) {
      throw new CoxswainError(
        'FAILED_PRECONDITION',
        'E_WRONG_ANSWER',
        `call ${requestId} is running here; abort it first`,
      );
    }
    return { running, event };
  };
  let { running, event } = make();
  if (given.kind === 'result' && !kept.bounded) {
    // Only of a call that this is an answer to.
    const bounded = boundedAnswer({ engine }, requestId, given.result);
    kept.bounded = bounded instanceof Promise ? await bounded : bounded;
    if (bounded instanceof Promise) {
      const meanwhile = settlementOf(fold, requestId, given);
      if (meanwhile) return meanwhile;
    }
    ({ running, event } = make());
  }
  const takeBack = credential && (await keepCredentials(engine.services, [credential]));
  try {
    if (takeBack) ({ running, event } = make());
  } catch (error) {
    await takeBack?.();
    throw error;
  }
  try {
    const stored = live.append([event], { expectedSeq: fold.at });
    if (running && !running.closing) running.reserve(held);
    await stored;
  } catch (error) {
    if (isLast || !isCoxswainError(error) || !outrun.has(error.code)) {
      await takeBack?.();
      throw error;
    }
    // In this process or in another.
    await live.catchUp();
    const settled = settlementOf(fold, requestId);
    const now = fold.callOf(requestId);
    const isOpen = now && !now.settled && !settled;
    // Of two that were given at once nobody knows which is kept; beside a no none is.
    if (!isOpen && settled?.outcome !== 'accept') await takeBack?.();
    const isKnown = error.code === 'E_EVENT_EXISTS' && now?.cutIds.has(event.id) !== true;
    return isKnown ? (settled ?? { status: 'already_settled' }) : undefined;
  }
  return { status: isVote(given) ? 'waiting_quorum' : 'settled', ...(given.by ? { by: given.by.id } : {}) };
}
