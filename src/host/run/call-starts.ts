import type {
  AgentEvent,
  ExecutorSession,
  ReportedRequest,
  RunDecisionRecord,
  ToolApprovalInput,
} from '../../contracts/index.ts';
import { isCoxswainError } from '../../contracts/index.ts';
import { isRepeatable } from '../../gate/index.ts';
import type { StreamQueue } from '../../session/index.ts';
import { isPipeable, startCalls } from '../../session/index.ts';
import { closedByOthers, hasTails } from '../questions/index.ts';
import type { HostTool } from '../tools/index.ts';
import type { RunBase } from './run-base.ts';

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

/**
 * Whether the call runs without a start in the log: a crash makes it run twice, which does nothing that one run has not
 * done. One behind which a tail call has begun
 * is none. A sub-agent that asks is found again by the start of
 * its call, whatever it says of itself.
 */
export function isUnrecorded(
  request: ReportedRequest,
  tool: HostTool | undefined,
  called: { readonly isResumable: boolean } | undefined,
): boolean {
  if (request.handledBy !== 'host') return false;
  return called ? called.isResumable : !hasTails(request) && isRepeatable(tool?.descriptor.annotations);
}

/** Stores the start of a call alone, beside what streams. False: another host was faster. */
export async function recordStart(
  { session }: Pick<RunBase, 'session'>,
  request: ReportedRequest,
  decision: RunDecisionRecord,
): Promise<boolean> {
  const { args, by } = decision;
  const person = /^user:(.+)$/s.exec(by)?.[1];
  const settlement = await session.inner.respond(request.requestId, {
    kind: 'approve',
    starts: true,
    decision,
    ...(args ? { args } : {}),
    ...(person === undefined ? {} : { by: { id: person } }),
  });
  return settlement.status === 'settled';
}
