import type { PendingRequest, SessionInput, ToolResultInput, ToolUpdate } from '../contracts/index.ts';
import { CoxswainError, messageOf } from '../contracts/index.ts';
import { errorResult } from '../gate/index.ts';
import { LazyMap, LazySet, openRequest, Pace } from '../session/index.ts';
import { DEFAULT_TOOL_CONCURRENCY, DEFAULT_TOOL_TIMEOUT_MS } from './options.ts';
import type { RunStep, Start } from './run-inputs.ts';
import { callsOf, resultInput } from './run-inputs.ts';
import { RunQueue } from './run-queue.ts';
import type { RunScope } from './run-scope.ts';
import { eventBase } from './run-scope.ts';
import { callOperation, measured, within } from './run-spans.ts';
import { runTailCalls } from './tail-calls.ts';
import type { HostTool } from './tool-registry.ts';
import { runHostTool } from './tool-runner.ts';

const over = new CoxswainError('ABORTED', 'E_ABORTED', 'the run is over');

/** The calls of one run that run here, from the decision to the result that waits for the log. */
export class RunCalls {
  readonly #scope: RunScope;
  readonly #queue: RunQueue;
  readonly #pace = new Pace();
  /** Calls whose start is on its way into the log. */
  readonly #starting = new LazySet<string>();
  /** What ends each call that is judged or runs here, by id. */
  readonly #controllers = new LazyMap<string, AbortController>();
  readonly #running = new LazySet<string>();
  /** Calls that were brought to a result here which is not stored yet. */
  readonly #unstored = new LazySet<string>();
  /** Calls that somebody is answering. */
  readonly #withheld = new LazySet<string>();
  /** Results that wait for the next inner stream. */
  #ready: ToolResultInput[] = [];

  constructor(scope: RunScope) {
    this.#scope = scope;
    this.#queue = new RunQueue(scope.session.frame.options.toolConcurrency ?? DEFAULT_TOOL_CONCURRENCY);
  }

  /** How many run now. */
  get running(): number {
    return this.#running.size;
  }

  get hasResults(): boolean {
    return this.#ready.length > 0;
  }

  /** It is about to run or runs here, or what it came to is on its way into the log. */
  isBusy(callId: string | undefined): boolean {
    if (callId === undefined) return false;
    return this.#starting.has(callId) || this.#running.has(callId) || this.#unstored.has(callId);
  }

  /** Somebody is answering this call: it is not started. */
  withhold(callId: string): void {
    this.#withheld.add(callId);
  }

  giveBack(callId: string): void {
    this.#withheld.delete(callId);
  }

  /** Its start is on its way into the log. */
  starts(callId: string): void {
    this.#starting.add(callId);
  }

  startsNone(): void {
    this.#starting.clear();
  }

  /** It was brought to a result here without running. */
  settles(callId: string): void {
    this.#unstored.add(callId);
  }

  stored(callId: string): void {
    this.#unstored.delete(callId);
  }

  /** Of inputs that were not taken, the results that were made here and are still wanted. */
  kept(open: readonly PendingRequest[], inputs: readonly SessionInput[]): SessionInput[] {
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

  /** It was settled elsewhere. */
  drop(callId: string, reason = 'aborted'): void {
    this.#controllers.get(callId)?.abort(new CoxswainError('ABORTED', 'E_ABORTED', reason));
  }

  /** Forgets calls that are not open any more. */
  retain(open: readonly PendingRequest[]): void {
    if (this.#controllers.size === 0) return;
    const calls = callsOf(open);
    for (const callId of this.#controllers.keys()) {
      if (!this.#running.has(callId) && !calls.has(callId)) this.#controllers.delete(callId);
    }
  }

  takeResults(): ToolResultInput[] {
    return this.#ready.splice(0);
  }

  /** Results for those that still run when the run is aborted. */
  interrupted(): ToolResultInput[] {
    const result = errorResult('interrupted', `interrupted: ${messageOf(this.#scope.signal.reason)}`);
    return [...this.#running].map((requestId) => ({ kind: 'tool_result', requestId, result }));
  }

  /** Ends one call that runs here. */
  abort(callId: string, reason?: string): boolean {
    if (!this.#running.has(callId)) return false;
    this.drop(callId, reason);
    return true;
  }

  /** Ends those that are not open any more. */
  abortClosed(open: readonly PendingRequest[]): void {
    const calls = callsOf(open);
    for (const callId of this.#running) {
      if (!calls.has(callId)) this.#controllers.get(callId)?.abort(this.#scope.signal.reason);
    }
  }

  abortAll(): void {
    // An abort without a reason makes one each time, with its stack: that costs more than the rest of a pause.
    for (const controller of this.#controllers.values()) controller.abort(this.#scope.signal.reason ?? over);
  }

  /** Starts those whose approvals have been sent, unless they have been settled since; the others are left. */
  startSent(starts: readonly Start[], batch: readonly SessionInput[], open: readonly PendingRequest[]): Start[] {
    if (starts.length === 0) return [];
    const calls = callsOf(open);
    const sent = new Set(batch.map((input) => ('requestId' in input ? input.requestId : undefined)));
    const left: Start[] = [];
    for (const start of starts) {
      const { request, step } = start;
      if (!sent.has(request.requestId)) left.push(start);
      else if (calls.has(request.callId)) this.start(request, step);
    }
    return left;
  }

  start(request: PendingRequest, step: RunStep): void {
    const { session } = this.#scope;
    const callId = request.callId ?? request.requestId;
    this.#starting.delete(callId);
    if (this.#withheld.has(callId)) return;
    const hostTool = session.frame.toolOf(request);
    if (!hostTool) return;
    const { signal } = this.#controllerOf(callId);
    this.#running.add(callId);
    let hasWaited = false;
    this.#queue.add(hostTool.descriptor.annotations?.exclusive === true, async () => {
      try {
        // Its turn may have ended meanwhile.
        if (hasWaited && !(await this.#isStillOpen(callId))) return;
        await this.#run(request, step, hostTool, signal);
      } catch (error) {
        session.frame.warn(`running ${request.name} failed`, error);
        this.#keep(resultInput(request, errorResult('failed', messageOf(error)), undefined));
      } finally {
        this.#running.delete(callId);
        this.#controllers.delete(callId);
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

  async #run(request: PendingRequest, step: RunStep, hostTool: HostTool, signal: AbortSignal): Promise<void> {
    const { session } = this.#scope;
    const { frame, subagents } = session;
    const callId = request.callId ?? request.requestId;
    const operation = callOperation(this.#scope, request, callId);
    const span = operation?.span;
    const call = {
      callId,
      sessionId: session.id,
      agentPath: request.agentPath,
      hostTool: subagents.bound(request, hostTool, span ? within(this.#scope, span) : this.#scope.below),
      decision: step.decision,
      ...(step.confirmation ? { confirmation: step.confirmation } : {}),
    };
    const options = this.#toolOptions(request);
    const work = runHostTool(call, options, signal);
    const outcome = await (operation ? measured(operation, work) : work);
    if (outcome.kind === 'confirm') {
      frame.judge.confirmationAsked(step.decision, outcome.request, request);
      return;
    }
    await subagents.quiet(callId);
    if (outcome.kind === 'suspended') return;
    const tail = await runTailCalls(outcome.result, call, request, frame, options, signal);
    frame.judge.settled(callId);
    if (this.#scope.signal.aborted) return;
    const { annotations } = hostTool.descriptor;
    const usage = subagents.usageOf(callId);
    const record = {
      ...step.decision.record,
      ...(tail.decisions ? { tailCalls: tail.decisions } : {}),
      ...(usage ? { usage } : {}),
    };
    // One whose approval is not in the log brings its decision along.
    const isNews = annotations?.readOnly || annotations?.idempotent || tail.decisions !== undefined || usage;
    this.#keep(resultInput(request, tail.result, isNews ? record : undefined, outcome.interim));
  }

  #keep(result: ToolResultInput): void {
    this.#ready.push(result);
    this.#unstored.add(result.requestId);
  }

  #toolOptions(request: PendingRequest) {
    const { options, warn } = this.#scope.session.frame;
    return {
      deps: this.#scope.options.deps ?? options.deps,
      hooks: options.hooks,
      hookTimeoutMs: options.hookTimeoutMs,
      timeoutMs: options.toolTimeoutMs ?? DEFAULT_TOOL_TIMEOUT_MS,
      maxResultBytes: options.maxResultBytes,
      spill: options.spill,
      warn,
      progress: (update: ToolUpdate) => this.#progress(request, update),
    };
  }

  #progress(request: PendingRequest, update: ToolUpdate): void {
    if (this.#scope.signal.aborted || !this.#scope.accepted) return;
    this.#scope.push({
      ...update,
      ...eventBase(this.#scope, request),
      type: 'tool_update',
      requestId: request.callId ?? request.requestId,
    });
  }
}
