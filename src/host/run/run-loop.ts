import type { ReportedRequest, SessionInput, StreamEndEvent } from '../../contracts/index.ts';
import { isCoxswainError } from '../../contracts/index.ts';
import type { EventStream } from '../../session/index.ts';
import { breath, MANY } from '../../session/index.ts';
import { closedByOthers, hasClosed, isOver } from '../questions/index.ts';
import type { BesideInner } from './beside-inner.ts';
import { AT_ONCE, startNow } from './call-starts.ts';
import { judgeOpen } from './judge-open.ts';
import { runOutlived, runOutliving } from './outlived-calls.ts';
import { Repeats } from './repeats.ts';
import type { RunCalls } from './run-calls.ts';
import { pausedEnd } from './run-end.ts';
import type { RunHold } from './run-hold.ts';
import type { RunScope } from './run-scope.ts';

// As it is now: whoever replaces the clock later means to hold time, not runs.
const later = setImmediate;

/** A run, as its loop uses it. */
export interface LoopingRun extends RunScope {
  readonly hold: RunHold;
  readonly out: EventStream;
  /** Its calls, once there is one. */
  readonly madeCalls: RunCalls | undefined;
  readonly beside: BesideInner | undefined;
  /** It stops where nothing of it runs, and leaves its turn to whoever goes on with it. */
  readonly isLeaving: boolean;
  /** Something has changed that nobody has looked at yet. */
  readonly isRung: boolean;
  inner(batch: readonly SessionInput[]): Promise<StreamEndEvent>;
  /** @param unsent what no inner stream has taken */
  abortInner(unsent: readonly SessionInput[]): Promise<StreamEndEvent>;
  /** An inner stream has taken these inputs. */
  sent(batch: readonly SessionInput[]): void;
  /** An inner stream has ended with these open. */
  listed(open: readonly ReportedRequest[]): void;
  stopIfSpent(): void;
  waitForNews(): Promise<void>;
  resumeClock(): void;
}

/** What stands between two inner streams. */
interface Between {
  open: ReportedRequest[];
  /** Gets what the next inner stream is to be told. */
  batch: SessionInput[];
  /** The newest end of an inner stream. */
  last: StreamEndEvent | undefined;
  /** The inner stream before was begun only to see whether anything moves. */
  hasGoneOn: boolean;
}

/** `end`: the run is over. `wentOn`: the next inner stream is begun only to see whether anything moves. */
type Next = { end: StreamEndEvent } | { end?: undefined; wentOn: boolean };

/** Inner streams one after the other, and between them the gate, until nothing is left that can be done here. */
export async function runToEnd(run: LoopingRun, inputs: SessionInput[]): Promise<StreamEndEvent> {
  const { signal, beside } = run;
  const repeats = new Repeats();
  let batch = inputs;
  /** What the batch is too large for. */
  let rest: SessionInput[] = [];
  let last: StreamEndEvent | undefined;
  let wentOn = false;
  if (inputs.every((input) => input.kind === 'continue')) batch = (await runOutlived(run)) ?? inputs;
  for (;;) {
    let end: StreamEndEvent | undefined;
    let wasAnswered = false;
    try {
      end = await run.inner(batch);
      run.sent(batch);
    } catch (error) {
      // Somebody else was faster with one of these answers; none of them was taken.
      if (!run.accepted || !isCoxswainError(error) || !closedByOthers.has(error.code)) throw error;
    } finally {
      wasAnswered = beside?.isAtWork === true;
      if (wasAnswered) await beside?.ended();
    }
    if (end && isOver(end)) {
      if (run.madeCalls) await runOutliving(run, end, batch);
      return end;
    }
    if (signal.aborted) return run.abortInner(end ? rest : batch.concat(rest));
    // Listing many is a piece of work by itself.
    if ((end?.data.pending?.length ?? 0) > MANY) {
      await breath();
      if (signal.aborted) return run.abortInner(end ? rest : batch.concat(rest));
    }
    const open = (wasAnswered ? undefined : end?.data.pending) ?? (await run.session.inner.pending());
    if (end) {
      last = end;
      run.listed(open);
      const others = repeats.took(batch, open);
      if (others) await others;
      run.madeCalls?.begin(open, batch);
      if (rest.length > 0) {
        batch = rest.splice(0, AT_ONCE);
        await new Promise((resolve) => later(resolve));
        continue;
      }
    }
    if (end && run.isLeaving && !hasWork(run)) return pausedEnd(end, open);
    // Approvals are looked at again; results that are still wanted are kept.
    if (!end) {
      const others = repeats.refused(batch, open);
      if (others) await others;
      await run.madeCalls?.beginNone();
    }
    batch = end ? [] : run.calls.kept(open, batch.concat(rest));
    if (end && wentOn && open.length === 0) return end;
    const next = await between(run, { open, batch, last, hasGoneOn: wentOn });
    if (next.end) return next.end;
    wentOn = next.wentOn;
    if (signal.aborted) return run.abortInner(batch);
    // Results that come at the same moment go together.
    if (run.calls.hasResults && run.calls.running > 0) await new Promise((resolve) => later(resolve));
    batch = batch.concat(run.calls.takeResults(), run.calls.takeStarts());
    rest = batch.splice(AT_ONCE);
  }
}

/** Something of it runs, or has a result that no inner stream has taken. */
function hasWork({ madeCalls }: LoopingRun): boolean {
  return madeCalls !== undefined && (madeCalls.running > 0 || madeCalls.hasResults);
}

/** Judges what is open, and runs, asks and waits, until there is something for the agent to go on with. */
async function between(run: LoopingRun, { open, batch, last, hasGoneOn }: Between): Promise<Next> {
  const { signal, beside, calls } = run;
  for (;;) {
    run.stopIfSpent();
    if (signal.aborted) return { wentOn: false };
    const questions: ReportedRequest[] = [];
    await judgeOpen(run, open, batch, questions);
    if (signal.aborted) return { wentOn: false };
    const starts = run.madeCalls?.takeStarts() ?? [];
    const isAll = batch.length === 0 && !calls.hasResults;
    const begun = isAll && starts.length > 0 ? await startNow(run, starts, run.out) : undefined;
    if (begun) {
      open = begun.open;
      if (!begun.isNews) continue;
      batch.push({ kind: 'continue' });
      return { wentOn: false };
    }
    batch.push(...starts);
    if (batch.length > 0 || calls.hasResults || signal.aborted) return { wentOn: false };
    if (beside?.goesOn) {
      batch.push({ kind: 'continue' });
      return { wentOn: false };
    }
    const isWaiting = calls.running > 0 || calls.withholds(open) || run.questions.isAsking(questions);
    if (!isWaiting && !run.isRung) {
      if (last && (questions.length > 0 || hasGoneOn)) {
        const hasMoved = await run.hold.pause(open, questions);
        if (!hasMoved && !signal.aborted && !beside?.goesOn) {
          return { end: pausedEnd(last, questions.length > 0 ? questions : open) };
        }
        if (!run.hold.isHeld) await run.hold.take();
        open = await run.session.inner.pending();
        continue;
      }
      // Everything was settled elsewhere. Once: a session that waits for nothing that is open would wait for ever.
      batch.push({ kind: 'continue' });
      return { wentOn: true };
    }
    run.questions.watchTime(questions);
    const leave = run.hold.watch(open, questions, () => run.wake());
    await run.waitForNews();
    leave();
    run.resumeClock();
    if (calls.hasResults || signal.aborted) return { wentOn: false };
    // Its start is taken when what is open has been looked at.
    if (calls.hasDue) continue;
    const now = await run.session.inner.pending();
    // Whoever waited for it can go on.
    if (hasClosed(open, now)) {
      batch.push({ kind: 'continue' });
      return { wentOn: false };
    }
    open = now;
  }
}
