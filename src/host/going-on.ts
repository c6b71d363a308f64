import { setTimeout as sleep } from 'node:timers/promises';
import type { PendingRequest } from '../contracts/index.ts';
import { isCoxswainError } from '../contracts/index.ts';
import type { HostedSession } from './hosted-session.ts';
import { isQuestion } from './run-inputs.ts';

/** Milliseconds between two looks whether whoever runs a session has let go of it. */
const LOOK_MS = 250;

/**
 * Goes on with a session after an answer. Whoever runs it in that moment may have looked before the answer was there:
 * it is looked at again once that one has let go.
 */
export async function goOn(session: HostedSession): Promise<void> {
  for (;;) {
    try {
      return await session.resume();
    } catch (error) {
      if (!isCoxswainError(error) || !others.has(error.code)) throw error;
      if (error.code !== 'E_SESSION_BUSY') return;
    }
    await sleep(LOOK_MS, undefined, { ref: false });
    if (session.isClosed || !(await isUnfinished(session))) return;
  }
}

/** Somebody else goes on with it, or it is over. */
const others: ReadonlySet<string> = new Set(['E_SESSION_BUSY', 'E_TURN_COMPLETED', 'E_SESSION_CLOSED']);

/** Nobody here runs it, and it has something to do that needs nobody's answer. */
export async function isUnfinished(session: HostedSession): Promise<boolean> {
  if (session.liveRun) return false;
  const open = await session.pending();
  const { isOver } = await session.standing();
  if (open.length === 0) return !isOver;
  // Of another agent, whose session it is.
  if (open.some(({ agentPath }) => agentPath[0] !== session.descriptor.name)) return false;
  for (const request of open) if (await canGoOn(session, request)) return true;
  return false;
}

/** The host can do something about it by itself. */
async function canGoOn(session: HostedSession, request: PendingRequest): Promise<boolean> {
  if (request.kind !== 'tool' || isQuestion(request)) return false;
  const { kind } = await session.judge.step(request, session.frame.toolOf(request), undefined, true);
  return kind === 'run' || kind === 'settle';
}
