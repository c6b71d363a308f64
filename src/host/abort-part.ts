import type { AbortTarget } from '../contracts/index.ts';
import { callsWithin } from './calls-within.ts';
import type { HostedRun } from './hosted-run.ts';
import type { HostedSession } from './hosted-session.ts';
import { callIdOf } from './question-id.ts';

/** Ends one call or thread of a session, beside whatever runs it; all that is open where nothing does. */
export async function abortPart(
  session: HostedSession,
  run: HostedRun | undefined,
  target: AbortTarget,
): Promise<void> {
  if ((target.requestId ?? target.threadId) !== undefined && (await session.subagents.abort(target))) {
    session.frame.wakeAll();
    return;
  }
  const callId = target.requestId === undefined ? undefined : callIdOf(target.requestId);
  if (callId !== undefined) run?.calls.withhold(callId);
  const isWhole = target.threadId === undefined && target.requestId === undefined;
  if (!run && isWhole) {
    await session.subagents.heal();
    await session.subagents.abortAll(target.reason ?? 'aborted');
  }
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
    await session.subagents.reap(open, target.reason ?? 'aborted');
    session.judge.retain(await session.inner.pending());
  }
  session.frame.wakeAll();
}
