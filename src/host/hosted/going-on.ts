import { setTimeout as sleep } from 'node:timers/promises';
import type { ReportedRequest } from '../../contracts/index.ts';
import { CoxswainError, isCoxswainError, isStatusCode } from '../../contracts/index.ts';
import { hasOutlived, isApprovalQuestion, isOfCall } from '../questions/index.ts';
import { approvedForVersion } from '../terms/index.ts';
import type { ControlledSession } from './controlled-session.ts';

/** Milliseconds between two looks whether whoever runs a session has let go of it. */
const LOOK_MS = 250;

/** The same where calls have outlived their turn: whoever holds the session does not look at them. */
const OUTLIVED_MS = 1000;

/**
 * Goes on with a session after an answer. Whoever runs it in that moment may have looked before the answer was there:
 * it is looked at again once that one has let go.
 */
export async function goOn(session: ControlledSession): Promise<void> {
  for (;;) {
    try {
      return await resume(session);
    } catch (error) {
      if (!isCoxswainError(error) || !others.has(error.code)) throw error;
      if (error.code !== 'E_SESSION_BUSY') return;
    }
    await sleep(LOOK_MS, undefined, { ref: false });
    if (session.isClosed || !(await isUnfinished(session))) return;
  }
}

/**
 * Goes on after an answer, whoever watches. A live run has seen it, unless it was just about to pause; one of another
 * process looks again after it has let go of the session, so that a refusal means that somebody goes on.
 * @throws CoxswainError `ABORTED / E_SESSION_BUSY` while another process runs the session; `E_STORE`, `E_STORE_FULL` or
 *   `E_STORE_READ_ONLY` where the store has taken nothing of it: whoever has brought it here brings it again
 */
export async function resume(session: ControlledSession): Promise<void> {
  const { frame, inner } = session;
  for (;;) {
    const reason = await session.liveRun?.ended;
    const goesOn = reason === undefined || reason === 'input_required' || (await inner.pending()).some(hasOutlived);
    if (!goesOn) return;
    try {
      const { show } = frame.shared;
      if (show) await show({ kind: 'continue' });
      else for await (const _ of session.stream({ kind: 'continue' }, { streaming: frame.options.bus !== undefined }));
      const { lost } = frame.shared;
      // Nobody reads the stream: the turn is open, and nothing of it is stored.
      if (lost && ofStore.has(lost.code)) {
        const { status, code, message } = lost;
        throw new CoxswainError(isStatusCode(status) ? status : 'UNKNOWN', code as `E_${string}`, message);
      }
      return;
    } catch (error) {
      const isBusy = isCoxswainError(error) && error.code === 'E_SESSION_BUSY';
      // A turn does not look at what has outlived the one before it.
      if (!isBusy || frame.running() || !(await inner.pending()).some(hasOutlived)) throw error;
      await sleep(OUTLIVED_MS, undefined, { ref: false });
    }
  }
}

const ofStore: ReadonlySet<string> = new Set(['E_STORE', 'E_STORE_FULL', 'E_STORE_READ_ONLY']);

/** Somebody else goes on with it, or it is over. */
const others: ReadonlySet<string> = new Set(['E_SESSION_BUSY', 'E_TURN_COMPLETED', 'E_SESSION_CLOSED']);

/** Nobody here runs it, and it has something to do that needs nobody's answer. */
export async function isUnfinished(session: ControlledSession): Promise<boolean> {
  if (session.liveRun) return false;
  const open = await session.pending();
  const { isOver } = await session.standing();
  if (open.length === 0) return !isOver;
  // Of another agent, whose session it is.
  if (open.some(({ agentPath }) => agentPath[0] !== session.descriptor.name)) return false;
  for (const request of open) if (await canGoOn(session, request)) return true;
  // Who has answered thinks that it goes on: another version of the agent asks again, and says so.
  const { present } = session.frame;
  return open.some(
    (request) => request.approvedFor !== approvedForVersion(request, present) && (request.answers?.length ?? 0) > 0,
  );
}

/** The host can do something about it by itself. */
async function canGoOn(session: ControlledSession, request: ReportedRequest): Promise<boolean> {
  if (!isOfCall(request) || isApprovalQuestion(request)) return false;
  const { kind } = await session.judge.step(request, session.frame.toolOf(request), undefined, true);
  return kind === 'run' || kind === 'settle';
}
