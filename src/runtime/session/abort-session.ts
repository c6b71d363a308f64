import type { AbortTarget } from '../../contracts/index.ts';
import { isCoxswainError } from '../../contracts/index.ts';
import type { LiveSession } from '../live/index.ts';
import { endElsewhere } from './abort-elsewhere.ts';
import { abortIdle } from './abort-idle.ts';
import { abortCall, abortThread } from './abort-part.ts';

/** What an abort is called with: `cause` goes to the run as it is. */
export type AbortCall = AbortTarget & { cause?: unknown };

/** A handle as an abort sees it. */
export interface AbortingHandle {
  readonly live: LiveSession;
  /** Who ends it, where nobody has spoken. */
  readonly name: string;
  /** It ends what it has begun, and nothing else. */
  readonly isClosed: boolean;
}

/** Ends a session's run, a part of it, or what is open while nothing runs; resolves when nothing more is written. */
export async function abortSession(handle: AbortingHandle, target: AbortCall, everyMs?: number): Promise<void> {
  const { live } = handle;
  const { reason = 'aborted', requestId, threadId } = target;
  if (requestId !== undefined) return abortCall(live, requestId, reason);
  const part = threadId === undefined ? undefined : () => abortThread(live, threadId, reason);
  await endElsewhere(live, target, everyMs, part ?? (() => abortWhole(handle, reason, target.cause ?? reason)));
}

async function abortWhole(handle: AbortingHandle, reason: string, cause: unknown): Promise<void> {
  const { live } = handle;
  if (await abortRun(live, cause)) return;
  if (handle.isClosed) return;
  // One that is on its way ends what this one would end.
  live.aborting ??= abortIdle(live, handle.name, reason).finally(() => {
    live.aborting = undefined;
  });
  try {
    await live.aborting;
  } catch (error) {
    // A run has begun in the meantime: it is what is to be ended.
    if (!isCoxswainError(error) || error.code !== 'E_SESSION_BUSY' || !(await abortRun(live, cause))) throw error;
  }
}

/** False: nothing runs here. */
async function abortRun({ current }: LiveSession, cause: unknown): Promise<boolean> {
  if (!current) return false;
  current.invocation.abort(cause);
  await current.result.catch(() => {});
  return true;
}
