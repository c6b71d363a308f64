import type { AbortTarget } from '../../contracts/index.ts';
import { callIdOf, isCoxswainError } from '../../contracts/index.ts';
import { hold, isHoldable } from '../../session/index.ts';
import type { HostedRun } from '../run/index.ts';
import { callsWithin } from './calls-within.ts';
import type { ControlledSession } from './controlled-session.ts';

/** Ends one call or thread of a session, beside whatever runs it; all that is open where nothing does. */
export async function abortPart(
  session: ControlledSession,
  run: HostedRun | undefined,
  target: AbortTarget,
): Promise<void> {
  const child = await session.subagents?.find(target);
  if (child) {
    await child.abort(target);
    session.frame.wakeAll();
    return;
  }
  const callId = target.requestId === undefined ? undefined : callIdOf(target.requestId);
  if (callId !== undefined) run?.calls.withhold(callId);
  const isWhole = target.threadId === undefined && target.requestId === undefined;
  if (!run && isWhole && session.frame.hasSubagents) return abortWithSubagents(session, target);
  await abortInner(session, run, target, callId);
}

/**
 * All that is open, sub-agents first, while nobody else runs the session. Whoever does run it ends them itself: it would
 * go on with what they have come to.
 */
async function abortWithSubagents(session: ControlledSession, target: AbortTarget): Promise<void> {
  const giveBack = await takeIdle(session);
  try {
    if (giveBack) {
      await session.subagents?.end(target.reason ?? 'aborted');
    }
    await abortInner(session, undefined, target, undefined);
  } finally {
    await giveBack?.();
  }
}

/** Undefined: somebody else runs it. Executors that keep no lease are taken to be idle. */
async function takeIdle({ inner }: ControlledSession): Promise<(() => Promise<void>) | undefined> {
  const idle = async () => {};
  if (!isHoldable(inner)) return idle;
  try {
    return (await inner[hold]()) ?? idle;
  } catch (error) {
    if (!isCoxswainError(error) || error.code !== 'E_SESSION_BUSY') throw error;
    return undefined;
  }
}

async function abortInner(
  session: ControlledSession,
  run: HostedRun | undefined,
  target: AbortTarget,
  callId: string | undefined,
): Promise<void> {
  const open = await session.inner.pending();
  const within = run ? callsWithin(open, target) : [];
  for (const call of within) run?.calls.withhold(call);
  try {
    await session.inner.abort(target);
  } catch (error) {
    if (callId !== undefined) run?.calls.giveBack(callId);
    for (const call of within) run?.calls.giveBack(call);
    throw error;
  }
  if (callId !== undefined) run?.dropCall(callId, target.reason);
  if (run && open.length > 0) {
    // What was closed with it: the calls of a thread, or of an agent run as a tool.
    const left = new Set((await session.inner.pending()).map((request) => request.callId));
    for (const request of open) {
      if (request.callId !== undefined && !left.has(request.callId)) run.dropCall(request.callId, target.reason);
    }
    for (const call of within) if (left.has(call)) run.calls.giveBack(call);
  }
  if (!run) {
    await session.subagents?.end(target.reason ?? 'aborted', open);
    session.judge.retain(await session.inner.pending());
    session.frame.rested();
  }
  session.frame.wakeAll();
}
