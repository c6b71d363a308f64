import type { AgentEvent, ExecutorSession, ReportedRequest, ToolApprovalInput } from '../../contracts/index.ts';
import { isCoxswainError } from '../../contracts/index.ts';
import type { StreamQueue } from '../../session/index.ts';
import { isPipeable, startCalls } from '../../session/index.ts';
import { closedByOthers } from '../questions/index.ts';

/** Approvals and results that are stored at once: it is one piece of work. */
export const AT_ONCE = 128;

/** A run whose calls are to begin. */
interface StartingRun {
  readonly session: { readonly inner: ExecutorSession };
  readonly options: { readonly streamId: string };
  readonly calls: {
    begin(open: readonly ReportedRequest[], starts: readonly ToolApprovalInput[]): void;
    beginNone(): Promise<void>;
  };
}

/**
 * Stores the starts of calls, where that is all there is to tell: no agent has anything to do with them. Undefined: they
 * go with the next inner stream.
 * @returns what is open then; `isNews`: there is more in the log, which an agent may have to go on with
 */
export async function startNow(
  run: StartingRun,
  starts: ToolApprovalInput[],
  out: StreamQueue<AgentEvent>,
): Promise<{ open: ReportedRequest[]; isNews: boolean } | undefined> {
  const { inner } = run.session;
  if (!isPipeable(inner) || starts.length > AT_ONCE) return undefined;
  try {
    const stored = await inner[startCalls](starts, run.options.streamId, out);
    run.calls.begin(stored.open, starts);
    return stored;
  } catch (error) {
    // Somebody else was faster with one of them; none was stored.
    if (!isCoxswainError(error) || !closedByOthers.has(error.code)) throw error;
    await run.calls.beginNone();
    return { open: await inner.pending(), isNews: false };
  }
}
