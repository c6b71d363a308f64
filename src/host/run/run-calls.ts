import type {
  ReportedRequest,
  RunDecisionRecord,
  SessionInput,
  ToolApprovalInput,
  ToolResultInput,
} from '../../contracts/index.ts';
import { CoxswainError, messageOf } from '../../contracts/index.ts';
import { DEFAULT_TOOL_CONCURRENCY, errorResult, RunQueue } from '../../gate/index.ts';
import { LazyMap, LazySet, openRequest, Pace } from '../../session/index.ts';
import type { RunStep } from '../questions/index.ts';
import { callsOf, resultInput } from '../questions/index.ts';
import type { AskingRun } from './ask-in-run.ts';
import { runHostCall } from './run-host-call.ts';

// As it is now: whoever replaces the clock later means to hold time, not runs.
const later = setImmediate;

const over = new CoxswainError('ABORTED', 'E_ABORTED', 'the run is over');

/** A call whose turn has come, but for its start in the log. */
interface Due {
  readonly callId: string;
  readonly approval: ToolApprovalInput;
  /** Its start is in the log; false: it does not run. */
  readonly begin: (isStored: boolean) => void;
}

/** Stores the start of a call by itself. False: it does not run. */
export type RecordStart = (request: ReportedRequest, decision: RunDecisionRecord) => Promise<boolean>;

/** The calls of one run that run here, from the decision to the result that waits for the log. */
export class RunCalls {
  readonly #scope: AskingRun;
  readonly #queue: RunQueue;
  readonly #pace = new Pace();
  /** Calls whose turn has come; their start goes with the next inner stream. */
  readonly #due: Due[] = [];
  /** Calls whose start is on its way into the log. */
  #starting: Due[] = [];
  #record: RecordStart | undefined;
  /** What ends each call that is judged or runs here, by id. */
  readonly #controllers = new LazyMap<string, AbortController>();
  /** Those that run, are about to, or wait for their turn. */
  readonly #running = new LazySet<string>();
  /** Of these: their handlers have begun. */
  readonly #begun = new LazySet<string>();
  /** Of these: their handlers have ended, and their results are being made. */
  readonly #ending = new LazyMap<string, Promise<void>>();
  /** Calls that were brought to a result here which is not stored yet. */
  readonly #unstored = new LazySet<string>();
  /** Calls that somebody is answering. */
  readonly #withheld = new LazySet<string>();
  /** Results that wait for the next inner stream. */
  #ready: ToolResultInput[] = [];

  constructor(scope: AskingRun) {
    this.#scope = scope;
    this.#queue = new RunQueue(scope.session.frame.options.toolConcurrency ?? DEFAULT_TOOL_CONCURRENCY);
  }

  /** How many run now. */
  get running(): number {
    return this.#running.size;
  }

  /** The turn of a call has come whose start is not on its way into the log. */
  get hasDue(): boolean {
    return this.#due.length > 0;
  }

  get hasResults(): boolean {
    return this.#ready.length > 0;
  }

  /** It is about to run or runs here, or what it came to is on its way into the log. */
  isBusy(callId: string | undefined): boolean {
    if (callId === undefined) return false;
    return this.#running.has(callId) || this.#unstored.has(callId);
  }

  /** Somebody is answering this call: it is not started. */
  withhold(callId: string): void {
    this.#withheld.add(callId);
  }

  giveBack(callId: string): void {
    this.#withheld.delete(callId);
    this.#scope.wake();
  }

  withholds(open: readonly ReportedRequest[]): boolean {
    if (this.#withheld.size === 0) return false;
    return open.some(({ callId }) => callId !== undefined && this.#withheld.has(callId));
  }

  /** What is to be in the log before the calls begin whose turn has come. */
  takeStarts(): ToolApprovalInput[] {
    const due = this.#due.splice(0);
    this.#starting.push(...due);
    return due.map(({ approval }) => approval);
  }

  /**
   * The starts of a batch are stored: its calls begin, if they are open still.
   * @throws CoxswainError `DATA_LOSS / E_STORE` where the log does not show a start: the call would be run again and again
   */
  begin(open: readonly ReportedRequest[], batch: readonly SessionInput[], runs = (_: string) => true): void {
    if (this.#starting.length === 0) return;
    const starting = new Set<string | undefined>(this.#starting.map(({ callId }) => callId));
    const wanted = new Map<string | undefined, ReportedRequest>();
    for (const request of open) if (starting.has(request.callId)) wanted.set(request.callId, request);
    const sent = new Set(batch);
    const left: Due[] = [];
    for (const due of this.#starting) {
      if (!sent.has(due.approval)) {
        left.push(due);
        continue;
      }
      const request = wanted.get(due.callId);
      if (request && !request.started) throw unrecorded(due.callId);
      due.begin(request !== undefined && runs(due.callId));
    }
    this.#starting = left;
  }

  /** Those starts were not stored: the calls are looked at again. */
  async beginNone(): Promise<void> {
    if (this.#starting.length === 0) return;
    for (const { begin } of this.#starting.splice(0)) begin(false);
    await new Promise((resolve) => later(resolve));
  }

  /** No inner stream follows that could take starts along. */
  recordAlone(record: RecordStart): void {
    this.#record = record;
  }

  /** It was brought to a result here without running. */
  settles(callId: string): void {
    this.#unstored.add(callId);
  }

  stored(callId: string): void {
    this.#unstored.delete(callId);
  }

  /** Of inputs that were not taken, the results that were made here and are still wanted. */
  kept(open: readonly ReportedRequest[], inputs: readonly SessionInput[]): SessionInput[] {
    const calls = callsOf(open);
    return inputs.filter((input) => {
      if (input.kind !== 'tool_result') return false;
      if (calls.has(input.requestId)) return this.#unstored.has(input.requestId);
      this.#unstored.delete(input.requestId);
      return false;
    });
  }

  /** Fires when nobody wants the call any more: hooks and policy need not go on thinking about it. */
  signalOf(callId: string): AbortSignal {
    return this.#controllerOf(callId).signal;
  }

  /** Nobody thinks about these any more: of those that do not run there is nothing to end. */
  judged(requests: readonly ReportedRequest[]): void {
    for (const { callId, requestId } of requests) {
      const id = callId ?? requestId;
      if (!this.#running.has(id)) this.#controllers.delete(id);
    }
  }

  /** Of those that are being judged, these alone are open still: nobody need think about the others. */
  dropClosed(open: readonly ReportedRequest[]): void {
    const calls = callsOf(open);
    for (const callId of this.#controllers.keys()) {
      if (!this.#running.has(callId) && !calls.has(callId)) this.drop(callId);
    }
  }

  /** It was settled elsewhere. */
  drop(callId: string, reason = 'aborted'): void {
    this.#controllers.get(callId)?.abort(new CoxswainError('ABORTED', 'E_ABORTED', reason));
  }

  /** Forgets calls that are not open any more. */
  retain(open: readonly ReportedRequest[]): void {
    if (this.#controllers.size === 0) return;
    const calls = callsOf(open);
    for (const callId of this.#controllers.keys()) {
      if (!this.#running.has(callId) && !calls.has(callId)) this.#controllers.delete(callId);
    }
  }

  takeResults(): ToolResultInput[] {
    return this.#ready.splice(0);
  }

  /** Of the results, those that can be told as an answer: a first word cannot. */
  takeAnswers(): ToolResultInput[] {
    const answers = this.#ready.filter(({ interim }) => !interim);
    if (answers.length > 0) this.#ready = this.#ready.filter(({ interim }) => interim);
    return answers;
  }

  /** A handler may have ended here whose result is not on its way into the log. */
  get mayHaveEnded(): boolean {
    return this.#begun.size > 0 || this.#ready.length > 0;
  }

  /** After an abort: resolves when all have their results whose handlers had ended. */
  async endings(): Promise<void> {
    // What a handler has returned in this very moment is told in the next one.
    if (this.#begun.size > 0) await new Promise((resolve) => later(resolve));
    await Promise.all(this.#ending.values());
  }

  /** Results for those that still run when the run is aborted. */
  interrupted(): ToolResultInput[] {
    const result = errorResult('interrupted', `interrupted: ${messageOf(this.#scope.signal.reason)}`);
    return [...this.#begun].map((requestId) => ({ kind: 'tool_result', requestId, result }));
  }

  /** Ends one call that runs here. */
  abort(callId: string, reason?: string): boolean {
    if (!this.#running.has(callId)) return false;
    this.drop(callId, reason);
    return true;
  }

  /** Ends those that are not open any more. */
  abortClosed(open: readonly ReportedRequest[]): void {
    const calls = callsOf(open);
    for (const callId of this.#running) {
      if (!calls.has(callId)) this.#controllers.get(callId)?.abort(this.#scope.signal.reason);
    }
  }

  abortAll(): void {
    // An abort without a reason makes one each time, with its stack: that costs more than the rest of a pause.
    for (const controller of this.#controllers.values()) controller.abort(this.#scope.signal.reason ?? over);
    for (const { begin } of [...this.#due.splice(0), ...this.#starting.splice(0)]) begin(false);
  }

  /** It runs when its turn comes and its start is in the log, which goes there not before. */
  enqueue(request: ReportedRequest, step: RunStep, approval: ToolApprovalInput): void {
    const callId = request.callId ?? request.requestId;
    this.start(request, step, (hasWaited) => {
      if (this.#record) return this.#record(request, approval.decision ?? step.decision.record);
      const { promise, resolve } = Promise.withResolvers<boolean>();
      this.#due.push({ callId, approval, begin: resolve });
      if (hasWaited) this.#scope.wake();
      return promise;
    });
  }

  /** @param begins what is to be done before it begins, when its turn has come. False: it does not run */
  start(request: ReportedRequest, step: RunStep, begins?: (hasWaited: boolean) => Promise<boolean>): void {
    const { session } = this.#scope;
    const callId = request.callId ?? request.requestId;
    if (this.#withheld.has(callId)) return;
    const hostTool = session.frame.toolOf(request);
    if (!hostTool) return;
    const { signal } = this.#controllerOf(callId);
    this.#running.add(callId);
    let hasWaited = false;
    let isSettled = false;
    let over: PromiseWithResolvers<void> | undefined;
    const ended = () => {
      over ??= Promise.withResolvers<void>();
      this.#ending.set(callId, over.promise);
    };
    this.#queue.add(hostTool.descriptor.annotations?.exclusive === true, async () => {
      try {
        if (this.#scope.signal.aborted) return;
        if (begins && !signal.aborted) {
          const making = session.subagents?.of(request)?.make();
          if (making) await making;
          if (signal.aborted || !(await begins(hasWaited || making !== undefined))) return;
        } else if (hasWaited && !(await this.#isStillOpen(callId))) {
          // Its turn has ended meanwhile.
          return;
        }
        this.#begun.add(callId);
        const result = await runHostCall(this.#scope, { request, step, hostTool }, signal, ended);
        if (result) this.#keep(result);
        isSettled = result !== undefined;
      } catch (error) {
        session.frame.warn(`running ${request.name} failed`, error);
        this.#keep(resultInput(request, errorResult('failed', messageOf(error)), undefined));
        isSettled = true;
      } finally {
        this.#running.delete(callId);
        this.#begun.delete(callId);
        this.#ending.delete(callId);
        this.#controllers.delete(callId);
        over?.resolve();
        if (isSettled) session.frame.runTimeQuestions.over(session.frame.name, callId);
        this.#scope.wake();
      }
    });
    hasWaited = true;
  }

  async #isStillOpen(callId: string): Promise<boolean> {
    const rest = this.#pace.rest();
    if (rest) await rest;
    return (await openRequest(this.#scope.session.inner, callId)) !== undefined;
  }

  #controllerOf(callId: string): AbortController {
    const known = this.#controllers.get(callId);
    if (known) return known;
    const controller = new AbortController();
    if (this.#scope.signal.aborted) controller.abort(this.#scope.signal.reason);
    this.#controllers.set(callId, controller);
    return controller;
  }

  #keep(result: ToolResultInput): void {
    this.#ready.push(result);
    this.#unstored.add(result.requestId);
  }
}

function unrecorded(callId: string): CoxswainError {
  const message = `the log does not show the start of call ${callId} that was stored: it is not run; check the session store`;
  return new CoxswainError('DATA_LOSS', 'E_STORE', message, { details: { callId } });
}
