import type { ControlledSession } from './controlled-session.ts';

/**
 * A question that nobody has answered in time counts as answered no: whoever looks at the session first stores that.
 * Where a run is under way in this host, that run does.
 */
export async function settleExpired(session: ControlledSession): Promise<void> {
  if (session.liveRun) return;
  for (const request of await session.inner.pending()) {
    if (request.kind !== 'tool' || request.callId === undefined) continue;
    const step = await session.judge.step(request, session.frame.toolOf(request), undefined, true);
    if (step.kind !== 'settle' || step.decision?.by !== 'expiry') continue;
    await session.inner.respond(request.callId, { kind: 'result', result: step.result, decision: step.decision });
  }
}
