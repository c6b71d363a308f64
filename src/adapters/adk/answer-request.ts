import type { RequestAnswer, Settlement } from '../../contracts/index.ts';
import { CoxswainError, isCoxswainError } from '../../contracts/index.ts';
import { ensureValidator } from '../../gate/index.ts';
import type { Engine, LiveSession } from '../../runtime/index.ts';
import { answerEvent, checkEdited, givenCredential, keepCredentials, settlementOf } from '../../runtime/index.ts';
import { originOf } from './abort-part.ts';

const alreadySettled: Settlement = { status: 'already_settled' };

/** Stores the answer to an open request, or tells how that was settled before. */
export async function answerRequest(
  live: LiveSession,
  engine: Engine,
  requestId: string,
  given: RequestAnswer,
): Promise<Settlement> {
  await live.catchUp();
  return (
    (await storeAnswer(live, engine, requestId, given)) ??
    (await storeAnswer(live, engine, requestId, given)) ??
    alreadySettled
  );
}

/** Undefined if it was called like an answer that a rewind has cut, and may be given again. */
async function storeAnswer(
  live: LiveSession,
  engine: Engine,
  requestId: string,
  given: RequestAnswer,
): Promise<Settlement | undefined> {
  const { fold } = live;
  const starts = given.kind === 'approve' && given.starts === true;
  const known = starts ? undefined : settlementOf(fold, requestId, given);
  if (known) return known;
  const call = fold.callOf(requestId);
  const args = given.kind === 'approve' ? given.args : undefined;
  if (args) await ensureValidator();
  if (call && args) checkEdited(engine.tree, fold, call, args);
  const running = live.current?.invocation;
  const event = answerEvent(fold, requestId, given, { ...originOf(running), starts, rerun: starts });
  // A question may be answered as soon as it is seen, even if its handler is still on the way out.
  if (running?.running.has(requestId)) {
    throw new CoxswainError(
      'FAILED_PRECONDITION',
      'E_WRONG_ANSWER',
      `call ${requestId} is running here; abort it first`,
    );
  }
  const ask = call?.asks.find((candidate) => candidate.requestId === requestId);
  const credential = call && ask && given.kind === 'elicitation' ? givenCredential(ask, call.name, given) : undefined;
  const takeBack = credential && (await keepCredentials(engine.services, [credential]));
  const stored = live.append([event]);
  if (running && !running.closing) running.reserve(stored);
  try {
    await stored;
  } catch (error) {
    if (!isCoxswainError(error) || error.code !== 'E_EVENT_EXISTS') {
      await takeBack?.();
      throw error;
    }
    // Somebody else was first: in this process or in another.
    await live.catchUp();
    const settled = settlementOf(fold, requestId) ?? alreadySettled;
    // Of two that were given at once nobody knows which is kept; beside a no none is.
    if (settled.outcome !== 'accept') await takeBack?.();
    const now = fold.callOf(requestId);
    return now && !now.settled && now.cutIds.has(event.id) ? undefined : settled;
  }
  const waits = (given as { quorum?: unknown }).quorum !== undefined;
  return { status: waits ? 'waiting_quorum' : 'settled', ...(given.by ? { by: given.by.id } : {}) };
}
