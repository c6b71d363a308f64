import type { SessionInput, StreamEndEvent, ToolResultInput } from '../../contracts/index.ts';
import { isCoxswainError } from '../../contracts/index.ts';
import type { Hosted } from '../frame/index.ts';
import { callsOf, closedByOthers, isOfCall, resultInput } from '../questions/index.ts';
import { recordStart } from './call-starts.ts';
import { approve } from './judge-open.ts';
import type { RunScope } from './run-scope.ts';

/**
 * Calls that have outlived their turn and wait for nobody any more run first, or are settled: what they come to opens a
 * new turn.
 */
export async function runOutlived(run: RunScope): Promise<SessionInput[] | undefined> {
  const { calls, signal } = run;
  const { frame, inner } = run.session;
  const open = (await inner.pending()).filter((request) => request.detached === true && isOfCall(request));
  const batch: SessionInput[] = [];
  for (const request of open) {
    const tool = frame.toolOf(request);
    const step = await frame.judge.step(request, tool, signal);
    if (step.kind === 'settle') {
      batch.push(resultInput(request, await frame.bounded(request.callId, step.result), step.decision));
    }
    // No turn is there that could hold the start of the call.
    if (step.kind === 'run') approve(run, request, step, tool, batch, (...start) => recordStart(run, ...start));
  }
  while (calls.running > 0 && !calls.hasResults && !signal.aborted) await run.woken();
  batch.push(...(signal.aborted ? await ends(calls) : calls.takeResults()));
  return batch.length > 0 ? batch : undefined;
}

/** After an abort: the results of those that had ended, and word of those that were cut off. */
async function ends(calls: RunScope['calls']): Promise<ToolResultInput[]> {
  const cut = calls.interrupted();
  await calls.endings();
  const results = calls.takeResults();
  const ended = new Set(results.map(({ requestId }) => requestId));
  return [...results, ...cut.filter(({ requestId }) => !ended.has(requestId))];
}

/** Calls that outlive the turn here run to their end: the model hears of what they came to in the next turn. */
export async function runOutliving(run: RunScope, end: StreamEndEvent, batch: readonly SessionInput[]): Promise<void> {
  const { calls, signal } = run;
  const { frame, inner } = run.session;
  const open = end.data.pending ?? [];
  const wanted = callsOf(open);
  const isLong = new Set(
    open
      .filter((request) => frame.toolOf(request)?.descriptor.annotations?.longRunning)
      .map((request) => request.callId),
  );
  calls.recordAlone((...start) => recordStart(run, ...start));
  calls.begin(open, batch, (callId) => !isLong.has(callId));
  await calls.beginNone();
  calls.abortClosed(open);
  while (calls.running > 0 && !signal.aborted) await run.woken();
  const results = signal.aborted ? await ends(calls) : [...calls.takeResults(), ...calls.interrupted()];
  for (const { requestId, result, decision, interim } of results) {
    if (interim || !wanted.has(requestId)) continue;
    try {
      await inner.respond(requestId, { kind: 'result', result, ...(decision ? { decision } : {}) });
    } catch (error) {
      if (!isCoxswainError(error) || !closedByOthers.has(error.code)) throw error;
    }
  }
}

/**
 * Of an aborted run: tells an executor whose stream goes on what has ended here, before it closes what is open. Never
 * rejects: what cannot be told is closed as what was cut off.
 */
export async function tellEnded({ inner, frame }: Hosted, calls: RunScope['calls']): Promise<void> {
  await calls.endings();
  for (const { requestId, result, decision } of calls.takeAnswers()) {
    try {
      await inner.respond(requestId, { kind: 'result', result, ...(decision ? { decision } : {}) });
      calls.stored(requestId);
    } catch (error) {
      if (isCoxswainError(error) && closedByOthers.has(error.code)) continue;
      frame.warn(
        `the result of call ${requestId}, which had ended when the run was aborted, could not be stored`,
        error,
      );
    }
  }
}
