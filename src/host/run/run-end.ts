import type { ReportedRequest, StreamEndEvent } from '../../contracts/index.ts';
import { INTERFACE_VERSION, isCoxswainError, messageOf } from '../../contracts/index.ts';
import { isApprovalQuestion } from '../questions/index.ts';
import { eventBase, hostError } from './run-base.ts';
import type { RunScope } from './run-scope.ts';

/** Nothing that can be done here is left: the end says what is open. */
export function pausedEnd(end: StreamEndEvent, questions: ReportedRequest[]): StreamEndEvent {
  const only = questions.length === 1 ? questions[0] : undefined;
  const { transfer, ...data } = end.data;
  // A transfer that a person is asked about is a question like any other.
  const keep = transfer && only?.requestId === transfer.requestId ? { transfer } : {};
  return {
    ...end,
    reason: 'transfer' in keep ? end.reason : 'input_required',
    data: { ...data, ...keep, pending: questions },
  };
}

/** Requests that are open after the turn's end, as the questions that they are. */
export async function shownEnd(run: RunScope, end: StreamEndEvent): Promise<StreamEndEvent> {
  const open = end.data.pending ?? [];
  const isStored = end.seq !== undefined;
  // After a fatal error nothing is shown but the end: `pending()` has the questions.
  if (!isStored || open.length === 0 || end.data.transfer || end.reason === 'failed') return end;
  await run.called?.settled();
  return { ...end, data: { ...end.data, pending: await showOpen(run) } };
}

/**
 * The end of a stream that has failed.
 * @throws the error itself where nothing was accepted: the stream never began
 */
export async function failedEnd(run: RunScope, error: unknown): Promise<StreamEndEvent> {
  if (run.accepted) return lostEnd(run, error);
  const waiting = await stillAsked(run, error);
  if (waiting) return waiting;
  throw error;
}

/** The end with what sub-agents have come to. What was accepted gets its end, whatever becomes of them. */
export async function closedEnd(
  run: RunScope & { closed(end: StreamEndEvent): Promise<StreamEndEvent> },
  end: StreamEndEvent,
): Promise<StreamEndEvent> {
  const { frame, id, inner } = run.session;
  try {
    // What the turn's end has cancelled asks nothing any more.
    if (frame.confirmations.has(frame.name)) frame.judge.retain(await inner.pending());
    return await run.closed(end);
  } catch (error) {
    frame.warn(`session ${id}: what its sub-agents have come to is not known`, error);
    return end;
  }
}

/** The run cannot go on, and cannot say so in the log: what was accepted still gets its end. */
async function lostEnd(run: RunScope, thrown: unknown): Promise<StreamEndEvent> {
  const { status, code, retryable } = isCoxswainError(thrown)
    ? thrown
    : ({ status: 'INTERNAL', code: 'E_INTERNAL', retryable: false } as const);
  run.push(hostError(run, { status, code, message: messageOf(thrown), retryable }, true));
  return { ...eventBase(run), type: 'stream_end', reason: 'failed', data: await openIfReadable(run) };
}

/** A log that cannot be written may be one that cannot be read. */
async function openIfReadable({ session }: RunScope): Promise<StreamEndEvent['data']> {
  try {
    return { pending: await session.inner.pending() };
  } catch (error) {
    session.frame.warn(`session ${session.id}: what is open is not known`, error);
    return {};
  }
}

/** A sub-agent that has outlived its caller's turn asks again: there is no turn to go on with, but its question. */
async function stillAsked(run: RunScope, refused: unknown): Promise<StreamEndEvent | undefined> {
  if (!isCoxswainError(refused) || refused.code !== 'E_TURN_COMPLETED') return undefined;
  const { inner, subagents } = run.session;
  for (const request of await inner.pending()) {
    if (!request.detached || !(await subagents?.of(request)?.waitsFor())) continue;
    run.accepted = true;
    introduce(run);
    run.called?.release(run.below);
    const pending = await showOpen(run);
    const { turnId } = request;
    return { ...eventBase(run), turnId, type: 'stream_end', reason: 'input_required', data: { pending } };
  }
  return undefined;
}

/** The agent has not spoken on this handle: its host begins. */
function introduce(run: RunScope): void {
  const { session } = run;
  if (session.introducedBy) return;
  session.introducedBy = 'host';
  const { name: agentId } = session.descriptor;
  run.push({ ...eventBase(run), type: 'initialize', agentId, interfaceVersion: INTERFACE_VERSION });
}

async function showOpen(run: RunScope): Promise<ReportedRequest[]> {
  const pending = await run.session.pending();
  for (const request of pending) {
    if (isApprovalQuestion(request) && !run.called?.hasAsked(request.requestId)) run.questions.show(request);
  }
  return pending;
}
